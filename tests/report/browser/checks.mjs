// checks.mjs: what holds for the page of any recording.
import assert from 'node:assert/strict';

const HARMLESS = /^(file|data|blob|about):/;
const SIZES = [[390, 844], [1280, 800]];

/** Nothing left the page, and it complained about nothing. */
export async function checkQuiet(page) {
  assert.deepEqual(page.requests.filter((url) => !HARMLESS.test(url)), [], 'requests that leave the page');
  assert.ok(page.requests.filter((url) => url.startsWith('file:')).length <= 1, `one file is all: ${page.requests}`);
  assert.deepEqual(await page.evaluate(() => window.violations), [], 'violations of the policy');
  assert.deepEqual(page.complaints, [], 'complaints on the console');
}

/** Every link within the page leads somewhere, none leads out of it. */
async function checkLinks(page, name) {
  const found = await page.evaluate(() => {
    const links = [...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'));
    const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
    return { twice: ids.filter((id, i) => ids.indexOf(id) !== i), outside: links.filter((href) => !href.startsWith('#')),
      lost: links.filter((href) => href.startsWith('#') && !href.includes('=') && !document.getElementById(decodeURIComponent(href.slice(1)))) };
  });
  assert.deepEqual(found, { twice: [], outside: [], lost: [] }, `${name}: ids that stand twice, links that lead out, links without a target`);
}

/** It says something, its links lead somewhere, it asks for nothing, and what is wide scrolls in its own box, on a telephone, too. */
export async function checkPage(page, name) {
  assert.ok(await page.evaluate(() => document.querySelector('#verdict').textContent.trim().length > 20), `${name} says nothing`);
  await checkLinks(page, name);
  for (const [width, height] of SIZES) {
    await page.resize(width, height);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${name} at ${width}: ${wide} pixels wide`);
  }
  await checkQuiet(page);
}
