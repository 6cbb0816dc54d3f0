// real.mjs TRACE FOLDER stdio|http ...: the official client with a server that collects live data (--daemon): every tool with good
// arguments, events of the scheduler as they happen, and a long call that is given up. Prints one line of JSON.
import assert from 'node:assert/strict';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { connect } from './connect.mjs';

const [trace, folder, ...words] = process.argv.slice(2);
const { client, close } = await connect(words);
const listed = async (sets) => (await client.listTools({ _meta: { 'schedscope/toolsets': sets } })).tools.map((t) => t.name);
const core = await listed('core');

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, name);
  return result.structuredContent;
}

// What each needs besides a trace; those that the trace has no events for say so in words.
const good = {
  get_topology: { detail_level: 'full' }, query_stats: { stat_type: 'cpu' }, list_event_subsystems: { event_type: 'perf' },
  list_events: { event_type: 'kprobe', limit: 5 }, control_event_tracking: { action: 'status' },
  control_stats_collection: { action: 'status' }, control_analyzers: { action: 'start', analyzer: 'all' },
  analyze_waker_wakee: { mode: 'summary' }, analyze_softirq: { mode: 'summary' },
  get_analyzer_report: { analyzer: 'rate_monitor' }, get_events: { limit: 5 },
  load_perfetto_trace: { file_path: trace, trace_id: 'one' }, record_and_analyze: { duration_secs: 1, trace_id: 'two' },
  list_traces: {}, unload_trace: { trace_id: 'two' }, diff_traces: { trace_id_a: 'one', trace_id_b: 'two' },
  analyze_trace_scheduling: { trace_id: 'one', analysis_type: 'cpu_utilization' },
  query_trace: { trace_id: 'one', event_type: 'sched_switch', limit: 3 },
  query_trace_events: { trace_id: 'one', event_type: 'sched_switch', limit: 3 },
  get_process_timeline: { trace_id: 'two', pid: 1 }, get_cpu_timeline: { trace_id: 'one', cpu: 0, limit: 3 },
  export_trace_analysis: { trace_id: 'one', output_path: `${folder}/export.json`, analysis_types: ['cpu_utilization'] },
  detect_outliers: { trace_id: 'one', method: 'MAD', category: 'latency' },
  record: { duration_secs: 0.5, trace_id: 'three' }, load: { file_path: trace, trace_id: 'four' }, summary: { trace_id: 'one' }, list: {},
  explain: { trace_id: 'one' }, blame: { trace_id: 'one' }, analyze: { trace_id: 'one', type: 'cpu_utilization' },
  timeline: { trace_id: 'one', cpu: 0, limit: 3 }, diff: {}, profile: { duration_secs: 0.5 }, doctor: {},
  report: { trace_id: 'one', output_path: `${folder}/report.md` }, live: {},
  query: { trace_id: 'one', sql: 'SELECT count(*) FROM sched_slice' },
  start_perf_profiling: { duration_secs: 60 }, stop_perf_profiling: {}, get_perf_results: { limit: 3 },
};
const last = ['diff_traces', 'get_process_timeline', 'stop_perf_profiling', 'get_perf_results', 'unload_trace'];
const others = [...core.filter((name) => good[name]), ...await listed('live,trace,profile')];
const order = [...others.filter((name) => !last.includes(name)), ...last];
await call('load_perfetto_trace', good.load_perfetto_trace);
let answered = 0;
const without = [];
for (const name of order) {
  if (good[name] && name !== 'get_process_timeline') {
    await call(name, good[name]);
    answered += 1;
    continue;
  }
  const result = await client.callTool({ name, arguments: good[name] ?? { trace_id: 'one' } });
  if (result.isError) {
    assert.match(result.content[0].text, /needs|has no|no process|not in/i, name);
    without.push(name);
  } else {
    answered += 1;
  }
}
await call('control_analyzers', { action: 'stop', analyzer: 'all' });

const uri = 'events://stream?types=sched_switch';
const updated = new Promise((resolve) => {
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => resolve(n.params.uri));
});
await client.subscribeResource({ uri });
assert.equal(await updated, uri);
const events = JSON.parse((await client.readResource({ uri })).contents[0].text).events;
assert.ok(events.length > 0 && events.every((e) => e.type === 'sched_switch'), 'no events came');
await client.unsubscribeResource({ uri });

const abort = new AbortController();
const start = performance.now();
const long = client.callTool({ name: 'record_and_analyze', arguments: { duration_secs: 60 } }, undefined, { signal: abort.signal });
setTimeout(() => abort.abort('enough'), 1000);
await assert.rejects(long);
await client.ping();
await close();
assert.ok(performance.now() - start < 30000, 'what was given up went on');
console.log(JSON.stringify({ answered, without, events: events.length }));
