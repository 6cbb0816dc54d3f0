// run.mjs chromium|firefox KNOWN [WORD]: runs all cases in that browser, or those whose name has the word; prints TAP.
// KNOWN is what test_browser.py has made: recordings, their pages, the program.
import { readFileSync } from 'node:fs';
import { launch } from './browser.mjs';
import { casesOf } from './cases.mjs';
import { forget } from './report.mjs';

const CASE_MS = 60000;

/** Ends with an error if it takes longer than anything that does not hang. */
function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`not done after ${ms} ms`)), ms); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const [name, path, word = ''] = process.argv.slice(2);
const chosen = casesOf(name).filter((one) => one.name.includes(word));
const known = JSON.parse(readFileSync(path, 'utf8'));
console.log(`1..${chosen.length}`);
const browser = await launch(name);
console.log(`# ${browser.name} ${browser.version}`);
let failed = 0;
for (const [i, one] of chosen.entries()) {
  const start = performance.now();
  let result = `ok ${i + 1} - ${one.name}`;
  try {
    await within(CASE_MS, one.run(browser, known));
  } catch (error) {
    failed += 1;
    await forget();
    result = `not ${result}\n# ${String(error?.stack ?? error).replaceAll('\n', '\n# ')}`;
  }
  console.log(`${result}\n# ${Math.round(performance.now() - start)} ms`);
}
await browser.close();
process.exit(failed ? 1 : 0);
