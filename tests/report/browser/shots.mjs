// shots.mjs PAGE FOLDER [FRAGMENT]: pictures of a report in Chromium: what a screen and a telephone show at first, the whole page, light and dark.
import { launch } from './browser.mjs';
import { drawn } from './report.mjs';

const [url, folder, fragment = ''] = process.argv.slice(2);
const SIZES = { wide: [1280, 800], narrow: [390, 844] };

const browser = await launch('chromium');
for (const [size, [width, height]] of Object.entries(SIZES))
  for (const dark of [false, true]) {
    const page = await browser.page({ width, height, dark });
    await page.goto(url + (fragment ? `#${fragment}` : ''));
    await drawn(page);
    const name = `${folder}/report-${size}-${dark ? 'dark' : 'light'}`;
    await page.screenshot({ path: `${name}.png` });
    await page.screenshot({ path: `${name}-whole.png`, fullPage: true });
    await page.done();
  }
await browser.close();
