// speed.mjs PAGE ROUNDS: how long people look at nothing, and how smooth the lanes move, in headless Chromium. Prints one line of JSON:
// ms until the verdict was painted, in each of some fresh pages; ms until everything was drawn; frames per second while keys pan and zoom.
import { launch } from './browser.mjs';
import { drawn } from './report.mjs';

const [url, rounds] = process.argv.slice(2);
const SECONDS = 2;

// A frame after the one in which the whole verdict has its place on the screen, it has been painted.
const WATCH_VERDICT = () => {
  const look = () => {
    const item = document.querySelector('#verdict li'), isWhole = document.querySelector('#verdict ~ *');
    const box = item?.getBoundingClientRect();
    if (isWhole && box && box.height > 0 && box.top < innerHeight) requestAnimationFrame(() => { window.verdictMs = performance.now(); });
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
};

/** Presses a key in every frame, as one that is held down; the length of each frame in ms. */
const FRAMES = (seconds) => new Promise((resolve) => {
  const lengths = [], keys = ['w', 'w', 'd', 'd', 'w', 'a', 'd', 's', 'a', 'd', 's', 'a', 's', 'd'];
  let last = performance.now();
  const end = last + 1000 * seconds;
  const step = (now) => {
    lengths.push(now - last);
    last = now;
    if (now > end) { resolve(lengths.slice(1)); return; }
    const key = keys[lengths.length % keys.length];
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
});

const browser = await launch('chromium');
const verdict = [], whole = [];
let frames = [], moved = false;
for (let i = 0; i < Number(rounds); i += 1) {
  const page = await browser.page();
  await page.addInitScript(WATCH_VERDICT);
  await page.goto(url, { waitUntil: 'commit' });
  await drawn(page);
  whole.push(await page.evaluate(() => performance.now()));
  verdict.push(await page.evaluate(() => Math.max(window.verdictMs, performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0)));
  if (i === 0) {
    const pixels = () => page.evaluate(() => document.querySelector('#lanes canvas').toDataURL());
    const before = await pixels();
    await page.evaluate(() => document.querySelector('#lanes').scrollIntoView());
    frames = await page.evaluate(FRAMES, SECONDS);
    moved = before !== await pixels();
  }
  await page.done();
}
await browser.close();
frames.sort((a, b) => a - b);
const at = (share) => frames[Math.min(frames.length - 1, Math.floor(share * frames.length))];
console.log(JSON.stringify({ verdict, whole, frames: frames.length, fps: (1000 * frames.length) / frames.reduce((a, b) => a + b, 0), medianMs: at(0.5), p95Ms: at(0.95), moved }));
