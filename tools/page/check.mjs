// Looks at pages in a browser: their height, what is wider than the window, and what
// axe-core finds, at two widths, light and dark, folded and with the first things unfolded.
//
//   npm install --prefix tools/page          # axe-core and puppeteer-core, pinned in package.json
//   CHROMIUM=/usr/bin/chromium node tools/page/check.mjs [--shots FOLDER] PAGE...
//
// Of a report's many like steps and rows axe-core sees the first ones: it takes minutes for all.
// A PAGE is a file or an address. It exits with 1 if axe-core has a serious or critical
// finding, or if a page is wider than its window.
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';

const OPENED = 12; // axe-core takes minutes for a thousand

const axe = createRequire(import.meta.url).resolve('axe-core');
const pages = process.argv.slice(2);
const at = pages.indexOf('--shots');
const shots = at < 0 ? '' : pages.splice(at, 2)[1];
if (shots) mkdirSync(shots, { recursive: true });

const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'], protocolTimeout: 600_000 });
let failed = false;
for (const [n, page] of pages.entries()) {
  const url = /^https?:/.test(page) ? page : pathToFileURL(resolve(page)).href;
  for (const width of [1280, 390]) {
    for (const scheme of ['light', 'dark']) {
      const tab = await browser.newPage();
      await tab.setBypassCSP(true); // for axe-core; the pages' own scripts run under their policy elsewhere
      await tab.setViewport({ width, height: 900 });
      await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await tab.goto(url, { waitUntil: 'load' });
      const size = await tab.evaluate(() => [document.documentElement.scrollHeight, document.documentElement.scrollWidth]);
      if (shots) await tab.screenshot({ path: `${shots}/${n}-${width}-${scheme}.png`, clip: { x: 0, y: 0, width, height: Math.min(size[0], 3000) }, captureBeyondViewport: true });
      await tab.evaluate(() => document.querySelectorAll('.block:nth-of-type(n+4), .block .step:nth-of-type(n+3), tr:nth-child(n+30), .panel').forEach(e => e.remove()));
      await tab.addScriptTag({ path: axe });
      const found = [];
      for (const opened of [false, true]) {
        if (opened) await tab.evaluate(most => [...document.querySelectorAll('details')].slice(0, most).concat([...document.querySelectorAll('.block:first-child, .block:first-child .step:first-of-type')]).forEach(d => { d.open = true; }), OPENED);
        const { violations } = await tab.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
        found.push(...violations);
      }
      const serious = found.filter(v => v.impact === 'serious' || v.impact === 'critical');
      console.log(`${page} ${width} ${scheme}: ${size[0]} px high, ${size[1]} px wide, ${found.length} findings, ${serious.length} serious`);
      for (const v of found) console.log(`  ${v.impact} ${v.id}: ${v.help}: ${v.nodes.length} such as ${v.nodes[0].html.slice(0, 160)}`);
      failed ||= serious.length > 0 || size[1] > width;
      await tab.close();
    }
  }
}
await browser.close();
process.exitCode = failed ? 1 : 0;
