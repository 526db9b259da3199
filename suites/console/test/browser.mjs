import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { env } from 'node:process';
import { chromium } from 'playwright-core';

/** Starts Debian's Chromium. */
export async function startBrowser() {
  const executablePath = [env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
    (path) => path !== undefined && existsSync(path),
  );
  assert.ok(executablePath, 'Chromium is not installed. Install it (apt-get install chromium), or set CHROMIUM.');
  return await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

/**
 * Opens the console in a fresh context. Each error of the page, each error in its console and each violation of its policy
 * is collected in `faults`, which a test compares with none. A refusal of the host is no fault.
 */
export async function openConsole(browser, url, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 },
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) faults.push(message.text());
  });
  await page.exposeFunction('reportViolation', (directive) => faults.push(`policy: ${directive}`));
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => window.reportViolation(event.violatedDirective));
  });
  await page.goto(url);
  return { page, context, faults };
}

/** Opens the console at a place, and signs in. */
export async function signedIn(browser, host, key, fragment = '', options = {}) {
  const opened = await openConsole(browser, `${host.url}/console/${fragment}`, options);
  await opened.page.getByLabel('API key or access token').fill(key);
  await opened.page.getByRole('button', { name: 'Sign in' }).click();
  await opened.page.getByRole('navigation', { name: 'Sections' }).waitFor();
  return opened;
}
