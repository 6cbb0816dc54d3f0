// modern.mjs auto|pin|legacy stdio|http ...: the official client of 2.x with a server, whatever that offers, at the era that it
// negotiates, pins, or knew before. Lists everything, calls every tool that only reads, about the trace SCHEDSCOPE_TRACE if there is
// one, reads every resource; with the server of the fixture also progress, cancellation, updates and a question. Prints one line of JSON; any failure is an exception.
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const NEW = '2026-07-28';
const [how, kind, where, ...args] = process.argv.slice(2);
const token = process.env.SCHEDSCOPE_TOKEN;
const mode = how === 'pin' ? { pin: NEW } : how;
const client = new Client({ name: 'peer', version: '2' }, { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } });
const failures = [];
client.onerror = (error) => failures.push(error);
const answers = [];
client.setRequestHandler('elicitation/create', async (request) => {
  const [key] = Object.keys(request.params.requestedSchema.properties);
  answers.push(request.params.message);
  return { action: 'accept', content: { [key]: request.params.requestedSchema.properties[key].enum[1] } };
});
let onUpdate = () => {};
client.setNotificationHandler('notifications/resources/updated', (n) => onUpdate(n.params.uri));
const transport = kind === 'http'
  ? new StreamableHTTPClientTransport(new URL(where), { requestInit: { headers: token ? { Authorization: `Bearer ${token}` } : {} } })
  : new StdioClientTransport({ command: where, args, stderr: 'inherit' });
await client.connect(transport);
const isNew = how !== 'legacy';
assert.equal(client.getProtocolEra(), isNew ? 'modern' : 'legacy');
assert.equal(client.getNegotiatedProtocolVersion(), isNew ? NEW : '2025-11-25');
assert.equal(client.getServerVersion().name, 'schedscope');

const { tools } = await client.listTools();
const { resources } = await client.listResources();
const { prompts } = await client.listPrompts();
await client.listResourceTemplates();
let errors = 0;
const trace = process.env.SCHEDSCOPE_TRACE;
if (trace) assert.ok(!(await client.callTool({ name: 'load_perfetto_trace', arguments: { file_path: trace, trace_id: how } })).isError);
const hasTrace = new Set(trace ? tools.filter((t) => t.inputSchema.properties?.trace_id).map((t) => t.name) : []);
// Those that change nothing: a recording takes seconds.
const names = [...new Set(tools.filter((t) => t.annotations?.readOnlyHint).map((t) => t.name))];
for (const name of names.filter((n) => !['choose', 'unload_trace'].includes(n))) {
  const result = await client.callTool({ name, arguments: hasTrace.has(name) ? { trace_id: how } : {} });
  assert.equal(result.content[0].type, 'text');
  if (result.isError) errors += 1;
  else assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, name);
}
await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), (e) => e.code === -32602);
for (const { uri } of resources) JSON.parse((await client.readResource({ uri })).contents[0].text);
await assert.rejects(client.readResource({ uri: 'nowhere://at/all' }), (e) => e.uri === 'nowhere://at/all' || e.data?.uri === 'nowhere://at/all');
for (const prompt of prompts) assert.ok((await client.getPrompt({ name: prompt.name, arguments: {} })).messages.length);

if (names.includes('wait')) {
  const seen = [];
  const done = await client.callTool({ name: 'wait', arguments: { ms: 600 } }, { onprogress: (p) => seen.push(p.progress) });
  assert.equal(done.structuredContent.text, 'done');
  assert.ok(seen.length > 0 && seen.every((p, i) => i === 0 || p > seen[i - 1]), `progress ${seen}`);
  const abort = new AbortController();
  const long = client.callTool({ name: 'wait', arguments: { ms: 600000 } }, { signal: abort.signal });
  setTimeout(() => abort.abort('enough'), 100);
  await assert.rejects(long);
  const updated = new Promise((resolve) => { onUpdate = resolve; });
  if (isNew) {
    const listening = await client.listen({ resourceSubscriptions: ['fake://clock', 'fake://none'], toolsListChanged: true });
    assert.deepEqual(listening.honoredFilter, { resourceSubscriptions: ['fake://clock'] });
    assert.equal(await updated, 'fake://clock');
    await listening.close();
    assert.equal(await listening.closed, 'local');
    const chosen = await client.callTool({ name: 'choose', arguments: {} });
    assert.equal(chosen.structuredContent.text, 'pear');
    assert.deepEqual(answers, ['Which fruit?']);
  } else {
    await client.subscribeResource({ uri: 'fake://clock' });
    assert.equal(await updated, 'fake://clock');
    await client.unsubscribeResource({ uri: 'fake://clock' });
    assert.ok((await client.callTool({ name: 'choose', arguments: {} })).isError);
  }
  const many = await Promise.all(Array.from({ length: 20 }, (_, i) => client.callTool({ name: 'echo', arguments: { text: `${i}` } })));
  assert.deepEqual(many.map((r) => r.structuredContent.text), Array.from({ length: 20 }, (_, i) => `${i}`));
}
if (!isNew && kind === 'http') await transport.terminateSession();
await client.close();
const real = failures.filter((e) => !/abort|terminated|SSE stream disconnected/i.test(String(e)));
if (real.length) throw real[0];
console.log(JSON.stringify({ tools: names.length, errors, resources: resources.length, prompts: prompts.length, era: how }));
