// session.mjs stdio PROGRAM [ARG...] | http URL: a whole session of the official client with a server, whatever it offers.
// Lists everything, calls every tool with {}, reads every resource, gets every prompt; the client itself validates
// structured content against the schemas. Prints one line of JSON with the counts; any failure is an exception.
import assert from 'node:assert/strict';
import { connect } from './connect.mjs';

const { client, close } = await connect(process.argv.slice(2));

/** All pages of a list. */
async function all(method, key) {
  const items = [];
  let cursor;
  do {
    const page = await client[method](cursor ? { cursor } : {});
    items.push(...page[key]);
    assert.notEqual(page.nextCursor, cursor ?? null, 'a page that points to itself');
    cursor = page.nextCursor;
  } while (cursor);
  return items;
}

/** No name twice, and each says what it is. */
function checkNames(items, key) {
  assert.equal(new Set(items.map((i) => i[key])).size, items.length, `a ${key} stands twice`);
  for (const item of items) assert.ok(item.description?.length > 10, `${item[key]} says too little`);
}

await client.ping();
assert.equal(client.getServerVersion().name, 'schedscope');
await client.setLoggingLevel('info');

const tools = await all('listTools', 'tools');
checkNames(tools, 'name');
let errors = 0;
const brief = { record: { duration_secs: 1 }, profile: { duration_secs: 1 } };
for (const tool of tools) {
  assert.equal(tool.inputSchema.type, 'object');
  assert.equal(typeof tool.annotations.readOnlyHint, 'boolean');
  const result = await client.callTool({ name: tool.name, arguments: brief[tool.name] ?? {} });
  assert.equal(result.content[0].type, 'text');
  if (result.isError) {
    errors += 1;
    assert.ok(result.content[0].text.length > 10, `${tool.name} does not say what to do`);
  } else {
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, tool.name);
    assert.ok(JSON.stringify(result).length < 8192, `the default answer of ${tool.name} is too long`);
  }
}
await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), (e) => e.code === -32602);

const resources = await all('listResources', 'resources');
checkNames(resources, 'uri');
for (const { uri } of resources) {
  const { contents } = await client.readResource({ uri });
  assert.equal(contents[0].uri, uri);
  JSON.parse(contents[0].text);
  await client.subscribeResource({ uri });
  await client.unsubscribeResource({ uri });
}
await assert.rejects(client.readResource({ uri: 'nowhere://at/all' }), (e) => e.code === -32002);
await client.subscribeResource({ uri: 'nowhere://at/all' });
await client.unsubscribeResource({ uri: 'nowhere://at/all' });
const templates = await all('listResourceTemplates', 'resourceTemplates');

const prompts = await all('listPrompts', 'prompts');
checkNames(prompts, 'name');
const named = new Set();
for (const prompt of prompts) {
  const { messages } = await client.getPrompt({ name: prompt.name, arguments: {} });
  for (const [, name] of messages[0].content.text.matchAll(/`([^`]*)`/g)) named.add(name);
  for (const argument of prompt.arguments ?? []) {
    const ref = { type: 'ref/prompt', name: prompt.name };
    const { completion } = await client.complete({ ref, argument: { name: argument.name, value: '' } });
    for (const value of completion.values)
      await client.getPrompt({ name: prompt.name, arguments: { [argument.name]: value } });
  }
}
if (prompts.some((p) => p.name === 'debug_high_latency'))
  assert.match((await client.getPrompt({ name: 'debug_high_latency', arguments: { pid: '42' } })).messages[0].content.text, /42/);

await close();
const offered = new Set([...tools.map((t) => t.name), ...resources.map((r) => r.uri)]);
const missing = [...named].filter((name) => !offered.has(name));
console.log(JSON.stringify({ tools: tools.length, errors, resources: resources.length, templates: templates.length,
  prompts: prompts.length, missing, firstAnswerMs: client.firstAnswerMs }));
