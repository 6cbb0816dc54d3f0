// long.mjs stdio|http ...: what takes long or changes, with the server of the fixture: progress, cancellation, updates.
import assert from 'node:assert/strict';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { connect } from './connect.mjs';

const { client, close } = await connect(process.argv.slice(2));

const seen = [];
const done = await client.callTool({ name: 'wait', arguments: { ms: 600 } }, undefined, { onprogress: (p) => seen.push(p.progress) });
assert.equal(done.structuredContent.text, 'done');
assert.ok(seen.length > 0 && seen.every((p, i) => i === 0 || p > seen[i - 1]), `progress ${seen}`);

const abort = new AbortController();
const long = client.callTool({ name: 'wait', arguments: { ms: 600000 } }, undefined, { signal: abort.signal });
await client.ping(); // goes on meanwhile
setTimeout(() => abort.abort('enough'), 200);
await assert.rejects(long);

const updated = new Promise((resolve) => {
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => resolve(n.params.uri));
});
await client.subscribeResource({ uri: 'fake://clock' });
assert.equal(await updated, 'fake://clock');
await client.readResource({ uri: 'fake://clock' });
await client.unsubscribeResource({ uri: 'fake://clock' });

const many = await Promise.all(Array.from({ length: 20 }, (_, i) => client.callTool({ name: 'echo', arguments: { text: `${i}` } })));
assert.deepEqual(many.map((r) => r.structuredContent.text), Array.from({ length: 20 }, (_, i) => `${i}`));
await close();
