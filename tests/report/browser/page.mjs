// page.mjs: what holds for every page, whatever its numbers: links, keys, hostile names, policy, barriers, no scripts, paper.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { checkPage, checkQuiet } from './checks.mjs';
import { drawn, embedded, open, select, shared, until } from './report.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Recordings that are odd in some way; numbers.mjs checks the same of the others. */
export async function oddPagesOpen(browser, known) {
  for (const name of ['hostile', 'cpus512', 'steal', 'stall', 'one']) {
    const page = await shared(browser, known, name);
    await checkPage(page, name);
  }
}

export async function aFindingLeadsToItsEvidence(browser, known) {
  const page = await shared(browser, known, 'own');
  const links = await page.evaluate(() => [...document.querySelectorAll('#verdict li a[href^="#"]')].map((a) => a.getAttribute('href')));
  assert.ok(links.length > 0, 'the verdict has no link');
  for (const href of links) {
    await page.evaluate(() => scrollTo(0, 0));
    await page.click(`#verdict li a[href="${href}"]`);
    await until(page, `coming to ${href}`, (id) => {
      const box = document.getElementById(id)?.getBoundingClientRect();
      return box && box.top < innerHeight && box.bottom > 0;
    }, href.slice(1));
  }
  const verdict = (await embedded(page)).verdict;
  assert.ok(verdict.length >= 1 && verdict.length <= 7, `${verdict.length} sentences`);
  const shown = await page.evaluate(() => [...document.querySelectorAll('#verdict li')].map((li) => li.textContent));
  assert.equal(shown.length, verdict.length);
  verdict.forEach((finding, i) => assert.ok(shown[i].includes(finding.sentence), `${shown[i]} is not ${finding.sentence}`));
}

/** Cards of worst waits follow a selection; a link of the verdict ends it, and shows the card that it leads to. */
export async function cardsFollowASelection(browser, known) {
  const page = await shared(browser, known, 'own');
  const cards = () => page.evaluate(() => [...document.querySelectorAll('#waits .card')].map((card) => ({ tid: card.dataset.tid, isShown: card.checkVisibility() })));
  const all = await cards(), tid = all.at(-1).tid;
  await select(page, `tid=${tid}`);
  const now = await cards();
  assert.ok(now.every((card) => card.isShown === (card.tid === tid)), JSON.stringify(now));
  assert.ok(now.some((card) => !card.isShown));
  const note = await page.evaluate(() => [...document.querySelectorAll('#waits > .note')].map((e) => e.textContent).join(' '));
  assert.ok(note.includes(`In the selection: ${now.filter((card) => card.isShown).length} of these ${all.length}.`), note);
  const href = await page.evaluate(() => [...document.querySelectorAll('#waits .card')].find((card) => !card.checkVisibility()).id);
  await page.evaluate((id) => { location.hash = id; }, href);
  await until(page, 'the card that was hidden', (id) => {
    const card = document.getElementById(id), box = card.getBoundingClientRect();
    return card.checkVisibility() && box.top >= 0 && box.top < innerHeight;
  }, href);
  await checkQuiet(page);
}

/** Cards beyond the first ones are folded. An address that leads to one opens it, and on paper all are open. */
export async function foldedWaitsOpen(browser, known) {
  const page = await open(browser, known, 'own');
  const isShown = () => [...document.querySelectorAll('.more .card')].map((card) => card.checkVisibility());
  const folded = await page.evaluate(isShown);
  assert.ok(folded.length > 0 && !folded.includes(true), `shown: ${folded}`);
  if (browser.canEmulate) {
    await page.emulateMedia({ media: 'print' });
    const heights = await page.evaluate(() => [...document.querySelectorAll('.more .card')].map((card) => card.getBoundingClientRect().height));
    assert.ok(heights.every((height) => height > 50), `on paper: ${heights}`);
    await page.emulateMedia({ media: 'screen' });
  }
  const last = await page.evaluate(() => [...document.querySelectorAll('.more .card')].at(-1).id);
  await page.evaluate((id) => { location.hash = id; }, last);
  await until(page, 'the folded card', (id) => {
    const card = document.getElementById(id), box = card.getBoundingClientRect();
    return card.checkVisibility() && box.top >= 0 && box.top < innerHeight;
  }, last);
  await checkQuiet(page);
  await page.done();
}

export async function keys(browser, known) {
  const page = await shared(browser, known, 'own');
  // What the lanes show is in their pixels only.
  const lanes = () => page.evaluate(() => new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(document.querySelector('#lanes canvas').toDataURL())));
  }));
  await page.evaluate(() => document.querySelector('#lanes').scrollIntoView()); // what is not in sight is not drawn
  const press = async (key, count = 1) => { for (let i = 0; i < count; i += 1) await page.keyboard.press(key); return lanes(); };
  const whole = await lanes(), zoomed = await press('w', 2), right = await press('d');
  assert.notEqual(zoomed, whole, 'W zooms');
  assert.notEqual(right, zoomed, 'D pans');
  assert.equal(await press('a'), zoomed, 'A pans back');
  assert.equal(await press('s', 3), whole, 'S zooms out, as far as there is something');
  // What is shown is in the address, so that it can be sent, and all of it is not.
  await until(page, 'all of it', () => !location.hash.includes('zoom='));
  await page.keyboard.press('w');
  await until(page, 'the span that is shown', () => /zoom=/.test(location.hash));
  const shown = await page.evaluate(() => location.hash), close = await lanes();
  await press('s', 3);
  await until(page, 'all of it again', () => !location.hash.includes('zoom='));
  await page.evaluate((to) => { location.hash = to; }, shown);
  await until(page, 'the address', (to) => location.hash === to, shown);
  assert.equal(await lanes(), close, 'an address leads to what was shown');
  await page.evaluate(() => { location.hash = ''; });
  await until(page, 'drawing', () => document.documentElement.dataset.drawn === '');
  const { buckets } = await embedded(page);
  await select(page, `t=0ns..${buckets.width_ns}ns`);
  await page.keyboard.press('Escape');
  await until(page, 'the end of the selection', () => !location.hash.includes('='));
  await page.keyboard.press('/');
  assert.ok(await page.evaluate(() => document.activeElement?.matches('input')), '/ goes to the search');
  await page.keyboard.type('w');
  assert.equal(await page.evaluate(() => document.activeElement.value), 'w', 'what is typed into a field is no command');
  await page.keyboard.press('Escape');
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press('?');
  await until(page, 'help', () => [...document.querySelectorAll('dialog[open], [role=dialog]:not([hidden])')].some((e) => /Esc/.test(e.textContent)));
  await page.keyboard.press('Escape');
  await until(page, 'the end of help', () => !document.querySelector('dialog[open], [role=dialog]:not([hidden])'));
  // Arrows walk through the cells of the heat map.
  await page.evaluate(() => document.querySelector('#heat canvas, #heat [tabindex="0"]').focus());
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await until(page, 'a cell', () => /t=/.test(location.hash) && /lat=/.test(location.hash));
  await checkQuiet(page);
}

/** Every control gets the focus by Tab, and shows it. */
export async function tabReachesEveryControl(browser, known) {
  const page = await shared(browser, known, 'one');
  const wanted = await page.evaluate(() => [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
    .filter((e) => e.checkVisibility() && !e.disabled && e.tabIndex >= 0).length);
  const seen = new Set();
  await page.evaluate(() => document.querySelectorAll('*').forEach((e, i) => { e.testNumber = i; }));
  for (let i = 0; i < wanted + 2; i += 1) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const e = document.activeElement, style = getComputedStyle(e);
      const isBody = e === document.body || e === document.documentElement;
      return isBody ? null : { number: e.testNumber, what: e.outerHTML.slice(0, 80), isShown: style.outlineStyle !== 'none' || style.boxShadow !== 'none' };
    });
    if (!at) continue;
    assert.ok(at.isShown, `the focus is not shown: ${at.what}`);
    seen.add(at.number);
  }
  assert.ok(seen.size >= wanted, `${seen.size} of ${wanted} controls are reached`);
}

/** A link to a selection shows that selection at once, also when its words are wrong. */
export async function deepLinks(browser, known) {
  const first = await shared(browser, known, 'cgroups');
  const { buckets, who } = await embedded(first);
  const task = who.find((w) => w.tid > 0 && !w.is_rest);
  const [from, to] = [buckets.nr >> 2, buckets.nr >> 1].map((i) => `${buckets.first_ns + i * buckets.width_ns}ns`);
  const page = await open(browser, known, 'cgroups', { fragment: `t=${from}..${to}&tid=${task.tid}` });
  const shown = await page.evaluate(() => ({ isHidden: document.getElementById('selection').hidden, text: document.getElementById('selection').textContent }));
  assert.ok(!shown.isHidden && shown.text.includes(String(task.tid)), shown.text);
  assert.match(shown.text, /schedscope analyze .*--from .*--to /);
  await page.done();
  const odd = await open(browser, known, 'cgroups', { fragment: 't=9e99s..1s&comm=%FF%3Cimg%20src=x%20onerror=1%3E' });
  for (const wrong of ['t=..', 't=-5s..99999999s', 'tid=0x', 'tid=4294967296', 'lat=b..a', 'comm=%', '%', 'wait-999', 't=1s..1s&t=2s..3s', '__proto__=1&constructor=2'])
    await odd.evaluate((to) => { location.hash = to; }, wrong);
  await until(odd, 'drawing', () => document.documentElement.dataset.drawn !== undefined);
  await checkQuiet(odd);
  await odd.done();
}

export async function hostileNamesStayNames(browser, known) {
  const page = await shared(browser, known, 'hostile');
  const found = await page.evaluate(() => ({
    images: document.images.length, scripts: [...document.scripts].map((s) => s.type), styles: document.querySelectorAll('style').length,
    rtl: /[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText), control: /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(document.body.innerText),
    inline: document.querySelectorAll('[onerror], [onclick], [onload]').length,
    text: [...document.querySelectorAll('#tasks tr')].map((tr) => tr.textContent).join('\n'), all: document.body.innerText,
  }));
  assert.equal(found.images, 0);
  assert.equal(found.styles, 1);
  assert.equal(found.scripts.filter((type) => type !== 'application/json').length, 1, `scripts: ${found.scripts}`);
  assert.ok(!found.rtl && !found.control, 'characters that turn or end text');
  assert.equal(found.inline, 0);
  for (const name of ['</script>', '<img onerror=1>', '<!--<script>', "'\"&amp;`${x}", ']]>--!></style>', 'javascript:1//', '日本語', 'a&comm=b#t=1s..', '%3Cb%3E%00%22', '\\u003c\\'])
    assert.ok(found.text.includes(name), `${name} is not in the table of tasks: ${found.text.slice(0, 3000)}`);
  assert.ok(found.text.includes('\ufffd'), 'broken UTF-8 is shown as such');
  // A link can select each of them, and what is drawn by scripts is as safe as the rest.
  const { who } = await embedded(page);
  for (const comm of new Set(who.filter((w) => w.tid > 0).map((w) => w.comm))) {
    await select(page, `comm=${encodeURIComponent(comm)}`);
    const now = await page.evaluate(() => ({ images: document.images.length, rows: [...document.querySelectorAll('#tasks tr[data-tid]')].filter((tr) => tr.checkVisibility()).length,
      isTurned: /[\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(document.body.innerText) }));
    assert.deepEqual(now, { images: 0, rows: 1, isTurned: false }, `after ${JSON.stringify(comm)} was selected`);
  }
  await checkQuiet(page);
}

/** Pointer: rows, bars, cells and spans become selections, and Back goes back. */
export async function clicksAndDragsSelect(browser, known) {
  const page = await shared(browser, known, 'own');
  const fragment = () => page.evaluate(() => decodeURIComponent(location.hash));
  const middle = (selector, x = 0.5, y = 0.5) => page.evaluate(([css, dx, dy]) => {
    const element = [...document.querySelectorAll(css)].find((e) => e.checkVisibility());
    element.scrollIntoView({ block: 'center' });
    const box = element.getBoundingClientRect();
    return [box.left + dx * box.width, box.top + dy * box.height];
  }, [selector, x, y]);
  await page.mouse.click(...await middle('#tasks tbody tr[data-tid] td:first-child', 0.1));
  await until(page, 'a thread', () => /tid=\d+|comm=/.test(location.hash));
  await page.keyboard.press('Escape');
  await until(page, 'nothing selected', () => !location.hash.includes('='));
  const [x0, y] = await middle('#lanes canvas', 0.4), [x1] = await middle('#lanes canvas', 0.6);
  await page.mouse.move(x0, y);
  await page.mouse.down();
  await page.mouse.move((x0 + x1) / 2, y);
  await page.mouse.move(x1, y);
  await page.mouse.up();
  await until(page, 'a span of time', () => /t=/.test(location.hash));
  const span = await fragment();
  await drawn(page);
  await page.mouse.click(...await middle('#tasks tbody tr[data-tid] td:first-child', 0.1));
  await until(page, 'a thread within it', () => /t=.*(tid|comm)=/.test(location.hash));
  await page.goBack();
  await until(page, 'going back', (before) => decodeURIComponent(location.hash) === before, span);
  await page.keyboard.press('Escape');
  await until(page, 'nothing selected', () => !location.hash.includes('='));
  // Somewhere in the figure there is a bar, and a cell.
  for (const [figure, what] of [['histogram', /lat=/], ['heat', /t=.*lat=|lat=.*t=/]]) {
    for (let i = 1; i < 20 && !what.test(await fragment()); i += 1)
      await page.mouse.click(...await middle(`#${figure} canvas`, i / 20, figure === 'heat' ? 0.75 : 0.8));
    assert.match(await fragment(), what, `a click into ${figure}`);
    await page.keyboard.press('Escape');
    await until(page, 'nothing selected', () => !location.hash.includes('='));
  }
  await checkQuiet(page);
}

export async function thePolicyIsStrict(browser, known) {
  const page = await open(browser, known, 'one');
  const policy = await page.evaluate(() => document.querySelector('meta[http-equiv="Content-Security-Policy"]').content);
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  assert.match(policy, /script-src 'sha256-/);
  assert.match(policy, /base-uri 'none'/);
  assert.match(policy, /form-action 'none'/);
  // The policy does hold: what is not ours does not run, and that is reported.
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.ran = true';
    document.body.append(script);
    const image = new Image();
    image.src = 'https://example.invalid/x.png';
    document.body.append(image);
  });
  await until(page, 'the violation', () => window.violations.length >= 2);
  assert.equal(await page.evaluate(() => window.ran), undefined);
  await page.done();
}

// Rows are alike, and so are cards: the first ones speak for all of them, in a fifth of the time.
const SAMPLE = { include: [['html']], exclude: [['tbody tr:nth-child(n+4)'], ['.card:nth-of-type(n+4)']] };

/** Serious and critical findings of axe-core, in the colours that are shown now. */
async function barriers(page, options = {}, sample = SAMPLE) {
  if (!await page.evaluate(() => Boolean(window.axe))) await page.evaluate(AXE);
  const { violations } = await page.evaluate(([on, o]) => window.axe.run(on, { resultTypes: ['violations'], ...o }), [sample, options]);
  return violations.filter((v) => ['serious', 'critical'].includes(v.impact))
    .map((v) => `${v.id} (${v.impact}): ${v.nodes.slice(0, 4).map((n) => `${n.target} ${n.failureSummary}`).join(' | ')}`);
}

/** Names on slices: their ink against the fill under them, as WCAG counts it. axe does not know fills. */
const INKS = () => {
  const light = (css) => css.match(/[\d.]+/g).slice(0, 3).map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  return [...document.querySelectorAll('svg text.on')].map((text) => {
    const [a, b] = [text, text.previousElementSibling].map((e) => light(getComputedStyle(e).fill)).sort((x, y) => y - x);
    return { text: text.textContent, on: text.previousElementSibling.getAttribute('class'), contrast: (a + 0.05) / (b + 0.05) };
  });
};

async function checkInks(page, what) {
  const inks = await page.evaluate(INKS);
  assert.ok(inks.length > 0, `${what}: no slice has a name`);
  assert.deepEqual(inks.filter((ink) => !(ink.contrast >= 4.5)), [], `${what}: inks`);
}

/**
 * All rules on a small page with a selection, which hides nothing that is there without one; colours once more in the dark. A large page
 * without a selection: in one browser, as the rules look at elements, and without colours, which take seconds there.
 */
export async function noBarriers(browser, known) {
  if (browser.canEmulate) {
    const large = await shared(browser, known, 'own');
    assert.deepEqual(await barriers(large, { rules: { 'color-contrast': { enabled: false } } }), [], 'a large page');
    await checkInks(large, 'a large page');
  }
  const page = await shared(browser, known, 'cgroups'), { buckets } = await embedded(page), edge = (share) => Math.floor(share * buckets.nr) * buckets.width_ns;
  await select(page, `t=${edge(0.2)}ns..${edge(0.8)}ns`);
  for (const [theme, options] of [['light', {}], ['dark', { runOnly: ['color-contrast'] }]]) {
    await page.evaluate((name) => { document.documentElement.dataset.theme = name; }, theme);
    assert.deepEqual(await barriers(page, options), [], theme);
    await checkInks(page, theme);
  }
  await page.evaluate(() => { delete document.documentElement.dataset.theme; });
}

export async function coloursFollowTheSystemAndTheButton(browser, known) {
  const colour = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).map(Number).reduce((a, b) => a + b));
  for (const dark of browser.canEmulate ? [false, true] : [true]) {
    const page = await open(browser, known, 'one', { dark });
    const first = await colour(page);
    assert.ok(dark ? first < 200 : first > 600, `background ${first}`);
    await page.evaluate(() => [...document.querySelectorAll('button')].find((b) => /dark|light|theme|colou?r/i.test(b.textContent + b.title + b.ariaLabel)).click());
    await until(page, 'the other colours', (wasDark) => {
      const sum = getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).map(Number).reduce((a, b) => a + b);
      return wasDark ? sum > 600 : sum < 200;
    }, dark);
    await page.done();
  }
}

/** Text, tables and pictures, as without scripts. */
const STATIC = () => ({
  sections: [...document.querySelectorAll('main section, body > section')].map((s) => s.id),
  verdict: document.querySelectorAll('#verdict li').length,
  rows: document.querySelectorAll('#tasks tbody tr').length,
  pictures: [...document.querySelectorAll('figure svg')].filter((svg) => svg.getBoundingClientRect().height > 10).length,
  figures: document.querySelectorAll('figure').length,
  text: document.body.innerText.length,
  hidden: [...document.querySelectorAll('button, input')].filter((e) => e.checkVisibility()).length,
});

export async function withoutScriptsAllIsThere(browser, known) {
  for (const name of ['own', 'trace.dat']) {
    const page = await open(browser, known, name, { scripts: false });
    const found = await page.evaluate(STATIC);
    assert.ok(found.verdict >= 1 && found.rows > 3 && found.text > 1500, JSON.stringify(found));
    assert.ok(found.pictures >= 4 && found.pictures >= found.figures, `every figure has its picture: ${JSON.stringify(found)}`);
    assert.equal(found.hidden, 0, 'controls that do nothing without scripts');
    for (const id of ['verdict', 'truth', 'waits', 'blame', 'latency', 'cpus', 'tasks']) assert.ok(found.sections.includes(id), `${name} has no ${id}`);
    await page.done();
  }
}

export async function itPrints(browser, known) {
  const page = await open(browser, known, 'cgroups');
  const paper = browser.canEmulate ? await page.pdf({ format: 'A4' }) : await page.pdf({ format: 'a4' });
  assert.equal(Buffer.from(paper.subarray(0, 5)).toString(), '%PDF-');
  const pages = Buffer.from(paper).toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  assert.ok(paper.length > 20000, `${paper.length} bytes`);
  if (browser.canEmulate) { // Firefox packs its objects
    assert.ok(pages > 2, `${pages} pages`);
    await page.emulateMedia({ media: 'print' });
    const shown = await page.evaluate(() => ({
      canvas: [...document.querySelectorAll('canvas')].filter((e) => e.checkVisibility()).length,
      svg: [...document.querySelectorAll('figure svg')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height > 10).length,
      figures: document.querySelectorAll('figure').length, buttons: [...document.querySelectorAll('button')].filter((e) => e.checkVisibility()).length,
      light: getComputedStyle(document.body).color,
    }));
    assert.ok(shown.svg >= shown.figures && shown.canvas === 0 && shown.buttons === 0, JSON.stringify(shown));
  }
  await page.done();
}

export async function fiveHundredCpusOpen(browser, known) {
  const page = await shared(browser, known, 'cpus512');
  const { cpus } = await embedded(page);
  assert.equal(cpus.length, 512);
  const box = await page.evaluate(() => { const r = document.getElementById('lanes').getBoundingClientRect(); return { width: r.width, height: r.height }; });
  assert.ok(box.width > 300 && box.height > 200, JSON.stringify(box));
  await checkQuiet(page);
}

/** Before and after: one map at a time, its cells under the pointer and the keys, all of them without scripts and on paper; no barriers. */
export async function comparedPagesOpen(browser, known) {
  const page = await open(browser, known, 'compared');
  const maps = () => page.evaluate(() => [...document.querySelectorAll('#compare .compare-part')].map((part) => part.checkVisibility()));
  const count = (list) => list.filter(Boolean).length;
  const all = (await maps()).length, shown = count(await maps());
  assert.ok(all >= 3 && shown < all, `${shown} of ${all} maps are shown at first`);
  await page.evaluate(() => [...document.querySelectorAll('#compare .compare-switch input')].at(-1).click());
  assert.equal(count(await maps()), all, 'all maps');
  const text = await page.evaluate(() => document.getElementById('compare').textContent);
  assert.match(text, /no change proved/);
  const { compare } = await embedded(page);
  assert.ok(compare.before.length === 1 && compare.after.length === 1 && compare.overall.length > 0);
  assert.deepEqual(await barriers(page, {}, { include: [['#compare']], exclude: [['#compare tbody tr:nth-child(n+4)'], ['#compare svg *']] }), []);
  await checkPage(page, 'compared');
  await page.done();
  if (!browser.canEmulate) return;
  const plain = await open(browser, known, 'compared', { scripts: false });
  const seen = await plain.evaluate(() => [...document.querySelectorAll('#compare .compare-part')].filter((part) => part.checkVisibility()).length);
  assert.equal(seen, all, 'maps without scripts');
  await plain.done();
}
