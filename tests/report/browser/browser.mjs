// browser.mjs: one interface for two browsers. Chromium is driven by Playwright, Firefox by Puppeteer over WebDriver BiDi, because
// each of them starts only the one that Debian has. Both have the same page.evaluate(), page.click(), page.keyboard, page.mouse.
import { execFileSync } from 'node:child_process';

/** Where a program is; null where it is not installed. */
function which(...names) {
  for (const name of names) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch { /* the next name */ }
  }
  return null;
}

export const PROGRAMS = { chromium: which('chromium', 'chromium-browser'), firefox: which('firefox-esr', 'firefox') };

// Whatever breaks the policy of a page is told to the page only.
const WATCH = () => {
  window.violations = [];
  document.addEventListener('securitypolicyviolation', (e) =>
    window.violations.push(`${e.effectiveDirective}: ${e.blockedURI} ${e.sample ?? ''}`));
};

/** All that a page asks for, and all that it complains about. */
function listen(page) {
  page.requests = [];
  page.complaints = [];
  page.on('request', (request) => page.requests.push(request.url()));
  page.on('pageerror', (error) => page.complaints.push(String(error?.stack ?? error)));
  page.on('console', (message) => {
    if (['error', 'warning', 'warn'].includes(message.type())) page.complaints.push(message.text());
  });
}

async function chromium() {
  const { chromium: driver } = await import('playwright-core');
  // Root has no sandbox; nothing but our own files is opened.
  const browser = await driver.launch({ executablePath: PROGRAMS.chromium, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] });
  return {
    name: 'chromium',
    version: browser.version(),
    canEmulate: true, // colours, paper, no scripts
    async page({ width = 1280, height = 800, dark = false, scripts = true, scale = 1 } = {}) {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', javaScriptEnabled: scripts,
        deviceScaleFactor: scale });
      const page = await context.newPage();
      listen(page);
      await page.addInitScript(WATCH);
      page.resize = (w, h) => page.setViewportSize({ width: w, height: h });
      page.done = () => context.close();
      return page;
    },
    close: () => browser.close(),
  };
}

async function firefox() {
  const { default: driver } = await import('puppeteer-core');
  const browser = await driver.launch({
    browser: 'firefox', executablePath: PROGRAMS.firefox, protocol: 'webDriverBiDi', headless: true,
    // BiDi cannot change the colours that a system prefers: here they are dark.
    extraPrefsFirefox: { 'layout.css.prefers-color-scheme.content-override': 0, 'datareporting.policy.dataSubmissionEnabled': false },
  });
  return {
    name: 'firefox',
    version: await browser.version(),
    canEmulate: false,
    async page({ width = 1280, height = 800 } = {}) {
      const page = await browser.newPage();
      listen(page);
      await page.setViewport({ width, height });
      await page.evaluateOnNewDocument(WATCH);
      page.resize = (w, h) => page.setViewport({ width: w, height: h });
      page.done = () => page.close();
      return page;
    },
    close: () => browser.close(),
  };
}

/** Starts one of PROGRAMS. */
export function launch(name) {
  return { chromium, firefox }[name]();
}
