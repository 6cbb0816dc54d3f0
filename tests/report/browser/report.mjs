// report.mjs: opens a report, reads its numbers, and asks the program itself for the same.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';

const DRAWN_MS = 20000;
const POLL_MS = 10;

const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** The page of a recording, after its scripts have drawn it. Options: those of browser.page(), and fragment. */
export async function open(browser, known, name, { fragment = '', ...options } = {}) {
  const page = await browser.page(options);
  // Firefox cannot be told to run no scripts: the policy of a copy of the page forbids them.
  const pages = options.scripts === false && !browser.canEmulate ? known.withoutScripts : known.pages;
  await page.goto(pages[name] + (fragment ? `#${fragment}` : ''));
  if (options.scripts !== false) await drawn(page);
  return page;
}

const kept = new Map();

/**
 * The page of a recording as it is after it was opened. Loading takes longer than most questions: each is loaded once, and the next case
 * gets it without a selection.
 */
export async function shared(browser, known, name) {
  if (!kept.has(name)) {
    const page = await open(browser, known, name);
    kept.set(name, page);
    return page;
  }
  const page = kept.get(name);
  await page.bringToFront(); // Firefox draws the tab in front only
  await page.evaluate(() => {
    document.activeElement?.blur();
    if (location.hash) location.hash = '';
    [...document.querySelectorAll('#lanes button')].find((b) => b.textContent === 'Whole time')?.click();
    scrollTo(0, 0);
  });
  await page.resize(1280, 800);
  await until(page, 'nothing selected', () => document.documentElement.dataset.drawn === '');
  return page;
}

/** After a case that failed: who knows what the pages show. */
export async function forget() {
  for (const page of kept.values()) await page.done().catch(() => {});
  kept.clear();
}

/** What a function of the page returns, as soon as that is not null; or an error that says what was waited for. */
export async function until(page, what, fn, ...args) {
  const end = performance.now() + DRAWN_MS;
  for (;;) {
    const got = await page.evaluate(fn, ...args);
    if (got !== null && got !== undefined && got !== false) return got;
    if (performance.now() > end) throw new Error(`${what} did not happen; complaints: ${page.complaints.join('; ') || 'none'}`);
    await sleep(POLL_MS);
  }
}

/** The page has drawn; with `before`, something else than that. */
export async function drawn(page, before = null) {
  const state = await until(page, 'drawing', (old) => {
    const { drawn: now, broken } = document.documentElement.dataset;
    if (broken !== undefined) return { broken };
    return now === undefined || now === old ? null : { now };
  }, before);
  assert.equal(state.broken, undefined, 'the page says that it is broken');
  return state.now;
}

/** Selects by the fragment, as a link does, and waits until all has followed. */
export async function select(page, fragment) {
  const before = await page.evaluate(() => document.documentElement.dataset.drawn);
  if (await page.evaluate((to) => { const same = location.hash === `#${to}`; location.hash = to; return same; }, fragment)) return;
  await drawn(page, before);
}

/** The document that is embedded for programs. */
export function embedded(page) {
  return page.evaluate(() => JSON.parse(document.getElementById('report-json').textContent));
}

/** All numbers of an analysis that a part of the page shows (those of a single wait, and what all rests on, are of none): [{ analysis, key, value, approx, row }]. */
export function cells(page, selector) {
  return page.evaluate((within) => [...document.querySelectorAll(`${within} td[data-key]`)]
    .filter((td) => !td.closest('[hidden], #truth, .holders'))
    .map((td) => ({ analysis: td.dataset.analysis ?? td.closest('table').dataset.analysis ?? null, key: td.dataset.key, value: td.dataset.value ?? null,
      approx: td.dataset.approx !== undefined, by: td.closest('table').dataset.by ?? null, culprit: td.dataset.culprit ?? null, culpritTgid: td.dataset.culpritTgid ?? null,
      section: td.closest('section').id, line: [...td.closest('table').rows].indexOf(td.closest('tr')), table: td.closest('table').id, text: td.textContent, row: { ...td.closest('tr').dataset } })), selector);
}

/** What `schedscope` prints, as JSON. */
export function ask(known, ...words) {
  return JSON.parse(execFileSync(known.schedscope, [...words, '--json'], { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] }));
}
