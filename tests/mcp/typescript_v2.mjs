// The TypeScript SDK 2.x. Arguments: http | bridge, then legacy | modern | auto
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { place, tour } from './tour.mjs';

const { url, headers, bridge, edit } = place();
const [transportName, era] = process.argv.slice(2);
const [command, ...args] = bridge;
const transport =
  transportName === 'http'
    ? new StreamableHTTPClientTransport(url, { requestInit: { headers } })
    : new StdioClientTransport({ command, args, env: process.env });
const mode = { legacy: 'legacy', modern: { pin: '2026-07-28' }, auto: 'auto' }[era];
const client = new Client({ name: 'typescript-v2', version: '1' }, { versionNegotiation: { mode } });
await client.connect(transport);
const version = client.getNegotiatedProtocolVersion();
assert.equal(version, era === 'legacy' ? '2025-11-25' : '2026-07-28');

const watch = async (uri) => {
  let tell;
  const told = new Promise((resolve) => (tell = resolve));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    if (params.uri === uri) tell();
  });
  if (era === 'legacy') await client.subscribeResource({ uri });
  else await client.listen({ resourceSubscriptions: [uri] });
  return () => told;
};
// Read again every time: what is under test is the server, not the client's cache.
const fresh = { cacheMode: 'refresh' };
await tour(
  {
    listTools: (page) => client.listTools(page, fresh),
    listResources: (page) => client.listResources(page, fresh),
    listResourceTemplates: (page) => client.listResourceTemplates(page, fresh),
    listPrompts: (page) => client.listPrompts(page, fresh),
    readResource: (what) => client.readResource(what, fresh),
    callTool: (what, signal) => client.callTool(what, { signal }),
  },
  watch,
  edit,
);
await client.close();
console.log('ok');
