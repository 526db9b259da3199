import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { after, before, test } from 'node:test';
import { bootHost, KEY } from './booted-host.mjs';
import { openConsole, signedIn, startBrowser } from './browser.mjs';
import { startEmbedder } from './embedder.mjs';
import { fill, LETTERS } from './world.mjs';

/** `SVC_SCREENSHOTS=docs/guides` in the folder of the checkout writes the pictures of the documentation. */
const FOLDER = env.SVC_SCREENSHOTS ?? mkdtempSync(join(tmpdir(), 'svc-screenshots-'));
const MOST_BYTES = 150_000;

let host;
let world;
let browser;

before(async () => {
  mkdirSync(FOLDER, { recursive: true });
  host = await bootHost();
  world = await fill(host);
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  world?.stop();
  await host?.stop();
  if (env.SVC_SCREENSHOTS === undefined) rmSync(FOLDER, { recursive: true, force: true });
});

test('each picture of the documentation is made', async () => {
  const { page, context, faults } = await signedIn(browser, host, KEY, '', { viewport: { width: 1120, height: 700 } });
  await page.getByText('1 subscription needs attention.').waitFor();
  await page.locator('.chart').waitFor();
  await picture(page, 'console-overview');
  await page.getByRole('link', { name: 'See why' }).click();
  await page.getByRole('heading', { name: 'Why it fails' }).waitFor();
  await page.locator('.chart').waitFor();
  await picture(page, 'console-subscription');
  world.failing.status = 200;
  await page.getByRole('button', { name: `Redrive ${LETTERS} dead letters …` }).click();
  await page.getByRole('button', { name: `Redrive ${LETTERS} deliveries` }).click();
  await page.getByText('The backlog is drained').waitFor();
  await page.getByText('healthy', { exact: true }).waitFor();
  await page.getByText(`this subscription: ${LETTERS} attempts delivered`).waitFor();
  await picture(page, 'console-redrive');
  await page.goto(`${host.url}/console/#/audit`);
  await page.getByRole('button', { name: 'Verify now' }).click();
  await page.getByText('Not looked at.').waitFor();
  await picture(page, 'console-audit');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(`${host.url}/console/#/runs/${encodeURIComponent(world.runs.approval)}`);
  await page.getByRole('heading', { name: 'Publish the release notes?' }).waitFor();
  await page.getByText('run.started').waitFor();
  await picture(page, 'console-run');
  assert.deepEqual(faults, []);
  await context.close();
});

test('the picture of the portal in an application is made', async () => {
  world.failing.status = 500;
  const app = await startEmbedder(host);
  for (let count = 0; count < 3; count += 1)
    await host.call('POST', '/runs', { workflowId: 'echo', inputs: { count } });
  const { url } = await host.call('POST', '/host/example/portal-sessions', {
    ...{ actions: ['view', 'redrive', 'edit', 'pause', 'test', 'rotate'], origin: app.origin },
    ...{ theme: { scheme: 'light', accent: 'teal', corners: 'slight' }, eventTypes: ['run.completed'] },
  });
  const options = { viewport: { width: 1000, height: 820 } };
  const { page, context, faults } = await openConsole(browser, `${app.origin}/`, options);
  await page.waitForFunction(() => customElements.get('svc-portal') !== undefined);
  await page.evaluate((detail) => dispatchEvent(new CustomEvent('show', { detail })), url);
  const frame = page.frameLocator('iframe');
  await frame.getByRole('link', { name: /orders/ }).click();
  await frame.getByRole('heading', { name: 'Why it fails' }).waitFor();
  await frame.getByRole('button', { name: /Redrive \d+ dead letters/ }).waitFor();
  await picture(page, 'portal-subscription');
  assert.deepEqual(faults, []);
  await context.close();
  app.stop();
});

async function picture(page, name) {
  const path = join(FOLDER, `${name}.png`);
  await page.evaluate(() => document.activeElement?.blur());
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
  assert.ok(statSync(path).size < MOST_BYTES, `${name} has ${statSync(path).size} bytes`);
}
