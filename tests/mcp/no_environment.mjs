// The TypeScript SDKs, which start the bridge with the environment that they hand down by themselves. Argument: 1 | 2. Says
// which variables those are.
import assert from 'node:assert/strict';

const v1 = process.argv[2] === '1';
const { Client } = await import(v1 ? '@modelcontextprotocol/sdk/client/index.js' : '@modelcontextprotocol/client');
const { StdioClientTransport, DEFAULT_INHERITED_ENV_VARS } = await import(
  v1 ? '@modelcontextprotocol/sdk/client/stdio.js' : '@modelcontextprotocol/client/stdio'
);
const [command, ...args] = JSON.parse(process.env.DRAFTBOARD_BRIDGE);
const client = new Client({ name: 'no-environment', version: '1' });
await client.connect(new StdioClientTransport({ command, args }));
const answer = await client.callTool({ name: 'get_workbench_context', arguments: {} });
assert.equal(JSON.parse(answer.content[0].text).ok, true, JSON.stringify(answer));
await client.close();
console.log(JSON.stringify([...DEFAULT_INHERITED_ENV_VARS].sort()));
