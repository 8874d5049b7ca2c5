// The TypeScript SDK 2.x: no sessions, answers as JSON. Arguments: the file of answers, the port.
import http from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { Server, createMcpHandler } from '@modelcontextprotocol/server';
import { answers, listen } from './answers.mjs';

const handler = createMcpHandler(() => {
  const server = new Server({ name: 'peer', version: '1' }, { capabilities: { tools: {}, resources: {} } });
  server.setRequestHandler('tools/list', () => answers.list);
  server.setRequestHandler('tools/call', ({ params }) => answers.calls[params.name]);
  server.setRequestHandler('resources/read', () => answers.read);
  return server;
});
listen(http.createServer(toNodeHandler(handler)));
