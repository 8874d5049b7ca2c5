// The TypeScript SDK 1.x, which knows only the protocol with a handshake. Argument: http | bridge
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { place, tour } from './tour.mjs';

const { url, headers, bridge, edit } = place();
const [command, ...args] = bridge;
const transport =
  process.argv[2] === 'http'
    ? new StreamableHTTPClientTransport(url, { requestInit: { headers } })
    : new StdioClientTransport({ command, args, env: process.env });
const client = new Client({ name: 'typescript-v1', version: '1' });
await client.connect(transport);

const watch = async (uri) => {
  let tell;
  const told = new Promise((resolve) => (tell = resolve));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    if (params.uri === uri) tell();
  });
  await client.subscribeResource({ uri });
  return () => told;
};
await tour(
  {
    listTools: (page) => client.listTools(page),
    listResources: (page) => client.listResources(page),
    listResourceTemplates: (page) => client.listResourceTemplates(page),
    listPrompts: (page) => client.listPrompts(page),
    readResource: (what) => client.readResource(what),
    callTool: (what, signal) => client.callTool(what, undefined, { signal }),
  },
  watch,
  edit,
);
await client.close();
console.log('ok');
