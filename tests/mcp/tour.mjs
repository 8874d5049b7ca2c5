// What every client does here, whatever its SDK: list, read, call, page to the end, watch, cancel. A failure throws.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

export const CONTEXT = 'draftboard://workspace/context';
const PATIENCE = 30_000;

/** How to reach Draftboard, as the test says it. */
export function place() {
  const value = (name) => process.env[name] ?? assert.fail(`${name} is not set`);
  return {
    url: new URL(value('DRAFTBOARD_URL')),
    headers: { Authorization: `Bearer ${value('DRAFTBOARD_TOKEN')}` },
    bridge: JSON.parse(value('DRAFTBOARD_BRIDGE')),
    edit: JSON.parse(value('DRAFTBOARD_EDIT')),
  };
}

/** A promise that does not wait for ever. */
export function within(what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), PATIENCE);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/**
 * `client` has the methods of both SDKs; `watch(uri)` resolves when the server watches, to a function that waits for
 * the next notice.
 */
export async function tour(client, watch, edit) {
  const listed = async (method, key) => {
    const items = [];
    let cursor;
    do {
      const page = await client[method](cursor === undefined ? {} : { cursor });
      items.push(...page[key]);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return items;
  };
  const tools = (await listed('listTools', 'tools')).map((tool) => tool.name);
  for (const name of ['get_workbench_context', 'list_resources', 'get_diagram', 'search']) {
    assert(tools.includes(name), `${name} is missing in ${tools}`);
  }
  const resources = (await listed('listResources', 'resources')).map((resource) => resource.uri);
  assert(resources.includes(CONTEXT), `${resources}`);
  assert((await listed('listResourceTemplates', 'resourceTemplates')).length > 0);
  const prompts = (await listed('listPrompts', 'prompts')).map((prompt) => prompt.name);
  assert(prompts.includes('review-diagram'), `${prompts}`);

  const revision = async () => {
    const { contents } = await client.readResource({ uri: CONTEXT });
    return JSON.parse(contents[0].text).revision;
  };
  const before = await revision();
  assert.equal(typeof before, 'number');

  const called = await client.callTool({ name: 'get_workbench_context', arguments: {} });
  assert.equal(called.structuredContent.ok, true);
  assert.equal(called.structuredContent.meta.revision, before);
  const refused = await client.callTool({ name: 'list_resources', arguments: { board: 'no-such-board' } });
  assert.equal(refused.isError, true);
  assert.equal(refused.structuredContent.error.code, 'NOT_FOUND');

  const found = [];
  let [cursor, total] = [undefined, undefined];
  do {
    const page = { limit: 7, ...(cursor === undefined ? {} : { cursor }) };
    const { structuredContent: answer, content } = await client.callTool({ name: 'list_resources', arguments: page });
    // Frameworks that forward `content` alone show their model the same.
    assert.deepEqual(JSON.parse(content[0].text), answer);
    assert.equal(answer.ok, true, JSON.stringify(answer));
    const items = Array.isArray(answer.data) ? answer.data : answer.data.resources;
    assert.equal(items.length, answer.meta.returned);
    found.push(...items.map((item) => item.instanceId));
    total = answer.meta.total;
    cursor = answer.meta.hasMore ? answer.meta.cursor : undefined;
  } while (cursor !== undefined);
  assert(total > 14, `${total} resources are too few to page`);
  assert.equal(new Set(found).size, total);

  const noticed = await within('the subscription', watch(CONTEXT));
  const [program, ...args] = edit;
  const edited = spawnSync(program, args, { encoding: 'utf8' });
  assert.equal(edited.status, 0, edited.stderr);
  await within('a notice of the edit', noticed());
  assert((await revision()) > before);

  const leaving = new AbortController();
  const image = client.callTool({ name: 'get_board_image', arguments: {} }, leaving.signal);
  leaving.abort();
  await assert.rejects(within('the end of a cancelled call', image), /abort/i);
  assert.equal((await client.callTool({ name: 'get_workbench_context', arguments: {} })).structuredContent.ok, true);
}
