// The TypeScript SDK 1.x: a session per client, answers as events. Arguments: the file of answers, the port.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema, ReadResourceRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { answers, listen, withoutEra } from './answers.mjs';

const [list, read] = [withoutEra(answers.list), withoutEra(answers.read)];
const calls = Object.fromEntries(Object.entries(answers.calls).map(([name, result]) => [name, withoutEra(result)]));

const sessions = new Map();
async function open() {
  const server = new Server({ name: 'peer', version: '1' }, { capabilities: { tools: {}, resources: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => list);
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => calls[params.name]);
  server.setRequestHandler(ReadResourceRequestSchema, () => read);
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  await server.connect(transport);
  return transport;
}
listen(
  http.createServer(async (request, response) => {
    const transport = sessions.get(request.headers['mcp-session-id']) ?? (await open());
    await transport.handleRequest(request, response);
  }),
);
