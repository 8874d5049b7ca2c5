// Called with messages of the queue, one for each parcel that arrived. It writes down who is to be told.
export const handler = async (event) => {
  for (const record of event.Records ?? []) {
    console.log("A parcel is waiting:", record.body);
  }
  return { told: event.Records?.length ?? 0 };
};
