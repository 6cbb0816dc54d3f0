// numbers.mjs: every number that a page shows is the one that `schedscope analyze --json` prints, for the whole time and for selections.
import assert from 'node:assert/strict';
import { checkPage } from './checks.mjs';
import { ask, cells, embedded, select, shared } from './report.mjs';

const RECORDINGS = ['own', 'cgroups', 'perfetto', 'wprof', 'perf.data']; // others become the same rows: cli/test_formats.py
const EVERY_WAY = ['own', 'cgroups']; // of selecting; of the others a name within a span of time
const MOST_CGROUPS = 4;
const ALL_ROWS = ['-n', '100000'];
const ASKED_ONE_BY_ONE = 3; // threads whose wakeup latency is asked for: each is a run of the program
const BY = { tid: 'thread', cgroup: 'cgroup', tgid: 'process', comm: 'comm' };

/** What a row of the page is about: the finest that it names. */
const about = (row) => ['tid', 'tgid', 'comm', 'cgroup', 'cpu'].find((key) => row[key] !== undefined);

/** The same row in what the program prints. */
function isRow(found, row) {
  const key = about(row), same = (name, value) => found[name] === undefined || String(found[name]) === value;
  if (key === 'tid') return String(found.pid) === row.tid && (!row.tgid || same('tgid', row.tgid));
  if (key === 'tgid') return String(found.tgid ?? found.pid) === row.tgid;
  if (key === 'cpu') return String(found.cpu_id ?? found.cpu) === row.cpu;
  return String(found[key]) === row[key];
}

/** The values of a key in the objects of a report that are about this row; in the report itself where the row is about all. */
function values(report, key, row) {
  const lists = Object.values(report).filter(Array.isArray).flat().filter((found) => found && typeof found === 'object');
  const objects = about(row) ? lists.filter((found) => isRow(found, row)) : [report];
  return objects.flatMap((found) => [found, ...Object.values(found).filter((v) => v && typeof v === 'object' && !Array.isArray(v))])
    .filter((found) => key in found).map((found) => found[key]);
}

const MOST_LISTED = 5; // culprits of a victim

/** What a victim lost to a culprit: a cell of the matrix; null where the program does not list it, because others come first. */
function blamed(report, row, culprit, tgid) {
  const rows = report.victims.filter((found) => isRow(found, row));
  const listed = rows.flatMap((found) => found.blames.filter((b) => String(b.cgroup ?? b.comm) === culprit && (!tgid || String(b.tgid) === tgid)).map((b) => b.wait_ns));
  if (rows.some((found) => found.blames.length < MOST_LISTED) || (row.tgid && !tgid)) listed.push(0); // several processes may have one name
  return listed.length || rows.length === 0 ? listed : null;
}

/** What a row of pairs may say: interrupts that woke the task have no number. */
function woken(report, key, row) {
  return report.top_pairs_by_total_latency.filter((pair) => String(pair.wakee_pid) === row.tid && String(pair.waker_pid ?? '') === (row.waker ?? '')).map((pair) => pair[key]);
}

/** Asks the program, each question once. */
class Asked {
  constructor(known, file, filters = []) {
    Object.assign(this, { known, file, filters, answers: new Map(), threads: new Set() });
  }

  ask(...words) {
    const key = words.join(' ');
    if (!this.answers.has(key)) this.answers.set(key, ask(this.known, 'analyze', this.file, ...words, ...ALL_ROWS, ...this.filters));
    return this.answers.get(key);
  }

  /** What a cell has to be: the values that would be right; null = not asked for. */
  expected({ analysis, key, row, by, culprit, culpritTgid, section }) {
    if (analysis === 'wakeup_latency' && section === 'tasks') { // that analysis has no rows of threads
      this.threads.add(row.tid);
      if ([...this.threads].indexOf(row.tid) >= ASKED_ONE_BY_ONE) return null;
      return values(this.ask(analysis, '--tid', row.tid), key, {});
    }
    const way = by ?? BY[about(row)];
    if (section === 'wakers') return woken(this.ask(analysis), key, row);
    if (key === 'blame_ns') return blamed(this.ask(analysis, '--by', way), row, culprit, culpritTgid);
    return values(this.ask(analysis, ...(way && ['process_runtime', 'blame'].includes(analysis) ? ['--by', way] : [])), key, row);
  }
}

// Numbers of tasks are names; what has no column is the rest of what is compared.
const NOT_COMPARED = ['pid', 'tgid', 'cgroup', 'others_ns'];

/** Rows that are about no one task: one object of the report has all their numbers. */
function checkNameless(list, asked, what) {
  const rows = Map.groupBy(list.filter((cell) => cell.key !== 'blame_ns'), (cell) => `${cell.table} ${cell.line}`);
  for (const row of rows.values()) {
    const report = asked.ask(row[0].analysis, ...(row[0].by ? ['--by', row[0].by] : []));
    const objects = [report, ...Object.values(report).flatMap((value) => (value && typeof value === 'object' ? value : []))];
    const isSame = (found) => row.every(({ key, value }) => key in found && String(found[key] === null ? 'null' : Number(found[key])) === (value === 'null' ? value : String(Number(value))));
    assert.ok(objects.some(isSame), `${what}: no row of ${row[0].analysis} has ${JSON.stringify(Object.fromEntries(row.map((c) => [c.key, c.value])))}`);
  }
}

function checkCell(cell, asked, what) {
  const where = `${what}: #${cell.section} ${cell.analysis}.${cell.key} of ${JSON.stringify(cell.row)} ("${cell.line}: ${cell.text}")`;
  const right = asked.expected(cell);
  const isNone = right?.length === 0 && Number(cell.value) === 0; // the program leaves such rows out
  assert.ok(right === null || isNone || right.some((value) => (value === null ? cell.value === 'null' : Number(value) === Number(cell.value))),
    `${where}: the page has ${cell.value}, the program ${JSON.stringify(right)}`);
  return right !== null;
}

/** How many cells of a part of the page were compared, by analysis. */
async function compare(page, selector, asked, name) {
  const counts = {}, what = `${name} (drawn: ${await page.evaluate(() => document.documentElement.dataset.drawn)})`;
  const isNumber = ({ value }) => value !== null && value !== '' && (value === 'null' || !Number.isNaN(Number(value)));
  // Of more than a thousand threads, which a busy machine may have, the page adds up some: the program has no such rows.
  const list = (await cells(page, selector)).filter((cell) => isNumber(cell) && !cell.approx && cell.row.rest === undefined && !NOT_COMPARED.includes(cell.key));
  const add = (cell) => { counts[cell.analysis] = (counts[cell.analysis] ?? 0) + 1; };
  for (const cell of list) assert.ok(cell.analysis, `${what}: #${cell.section} ${cell.key} of ${JSON.stringify(cell.row)} says not of which analysis it is`);
  const nameless = list.filter((cell) => !about(cell.row));
  checkNameless(nameless, asked, what);
  nameless.forEach(add);
  for (const cell of list) if (about(cell.row) && checkCell(cell, asked, what)) add(cell);
  return counts;
}

async function checkWhole(page, known, name) {
  const counts = await compare(page, 'section', new Asked(known, known.recordings[name]), name);
  console.log(`# ${name}, whole: ${JSON.stringify(counts)} numbers are those of analyze`);
  for (const analysis of ['process_runtime', 'blame', 'wakeup_latency']) assert.ok(counts[analysis] > 5, `${name}: too few of ${analysis}: ${JSON.stringify(counts)}`);
}

/** Edges of buckets, as words of a command. */
function spans({ buckets }) {
  const edge = (share) => buckets.first_ns + Math.floor(share * buckets.nr) * buckets.width_ns;
  return [[edge(0.25), edge(0.5)], [edge(0.6), edge(0.6) + buckets.width_ns], [edge(0), edge(0.9)]].filter(([from, to]) => to > from);
}

const busiest = (list, key) => {
  const times = new Map();
  for (const { value, row } of list) if (row[key]) times.set(row[key], (times.get(row[key]) ?? 0) + Number(value));
  return [...times].sort((a, b) => b[1] - a[1]).map(([name]) => name);
};

/** Words of a fragment, and the options of `analyze` that mean the same. */
function selections(doc, tasks) {
  const [first, second, third] = spans(doc);
  const span = ([from, to]) => [`t=${from}ns..${to}ns`, ['--from', `${from}ns`, '--to', `${to}ns`]];
  const and = ([words, options], key, option, value) => [`${words}&${key}=${encodeURIComponent(value)}`, [...options, option, value.replace(/[\\*?[\]]/g, '\\$&')]];
  const comm = busiest(tasks, 'comm')[0], tid = busiest(tasks, 'tid')[1] ?? busiest(tasks, 'tid')[0];
  const cgroups = [...new Set(doc.who.map((w) => w.cgroup).filter((path) => path?.startsWith('/') && path !== '/'))].slice(0, MOST_CGROUPS);
  return [span(first), span(second), and(span(third), 'comm', '-c', comm), and(span(first), 'tid', '--tid', tid),
    ...cgroups.map((path) => and(span(third), 'cgroup', '--cgroup', path))];
}

async function checkSelections(page, known, name, doc) {
  const tasks = (await cells(page, '#tasks')).filter((c) => c.key === 'total_runtime_ns');
  const all = selections(doc, tasks);
  for (const [words, options] of EVERY_WAY.includes(name) ? all : all.slice(2, 3)) {
    await select(page, words);
    const asked = new Asked(known, known.recordings[name], options), what = `${name} ${options.join(' ')}`;
    const counts = [await compare(page, '#tasks', asked, what), await compare(page, '#blame', asked, what), await compare(page, '#wakers', asked, what)];
    const total = asked.ask('process_runtime').processes.length;
    const ran = (await cells(page, '#tasks')).filter((c) => c.key === 'total_runtime_ns' && Number(c.value) > 0);
    const shown = new Set(ran.filter((c) => c.row.rest === undefined).map((c) => c.row.tid)), least = ran.length > shown.size ? 1 : Math.min(total, 20);
    assert.ok(shown.size >= least && shown.size <= Math.max(total, 1), `${what}: ${shown.size} tasks of ${total} are shown`);
    console.log(`# ${what}: ${JSON.stringify(counts)}`);
  }
}

/** Wakeups of a range of latencies, one by one: `correlation` lists them all. */
async function checkLatencies(page, known, name, doc) {
  const [from, to] = spans(doc)[0];
  const listed = new Asked(known, known.recordings[name], ['--from', `${from}ns`, '--to', `${to}ns`]).ask('correlation').correlations;
  const lengths = listed.map((c) => c.wakeup_latency_ns).sort((a, b) => a - b), low = lengths[lengths.length >> 1];
  const slot = doc.slots.find(([first, last]) => low >= first && low <= last);
  assert.ok(slot, `${name}: ${low} ns lies in no slot`);
  await select(page, `t=${from}ns..${to}ns&lat=${slot[0]}ns..${slot[1] + 1}ns`);
  await page.evaluate(() => [...document.querySelectorAll('#tasks button')].find((b) => /^All \d/.test(b.textContent))?.click()); // not the first rows only
  const counts = new Map();
  for (const c of listed.filter((c) => c.wakeup_latency_ns >= slot[0] && c.wakeup_latency_ns <= slot[1])) counts.set(String(c.pid), (counts.get(String(c.pid)) ?? 0) + 1);
  const all = (await cells(page, '#tasks')).filter((c) => c.key === 'total_wakeups' && Number(c.value) > 0);
  const shown = new Map(all.filter((c) => c.row.rest === undefined).map((c) => [c.row.tid, Number(c.value)]));
  for (const [tid, count] of shown) assert.equal(count, counts.get(tid), `${name}: wakeups of ${slot[0]} to ${slot[1]} ns of thread ${tid}`);
  if (all.length === shown.size) assert.equal(shown.size, counts.size, `${name}: threads of ${slot[0]} to ${slot[1]} ns`);
}

/** One page, three questions: opening it takes longer than asking. */
async function check(browser, known, name) {
  const page = await shared(browser, known, name), doc = await embedded(page);
  await checkWhole(page, known, name);
  await checkSelections(page, known, name, doc);
  await checkLatencies(page, known, name, doc);
  await checkPage(page, name);
}

export const cases = RECORDINGS.map((name) => ({ name: `numbers_are_those_of_analyze_${name.replace('.', '_')}`, run: (browser, known) => check(browser, known, name) }));
