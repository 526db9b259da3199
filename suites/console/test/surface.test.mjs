import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AXE, violationsOf, violationsOfColours } from './axe.mjs';
import { bootHost, eventually, KEY, startReceiver } from './booted-host.mjs';
import { openConsole, signedIn, startBrowser } from './browser.mjs';
import { fill } from './world.mjs';

let host;
let world;
let browser;
let places;

before(async () => {
  host = await bootHost({ roles: true });
  world = await fill(host);
  const { runId } = await host.call('POST', '/runs', { workflowId: 'artifact', inputs: { content: 'a draft' } });
  browser = await startBrowser();
  const { deliveries } = await host.call('GET', `/host/example/webhooks/${world.webhooks.failing}/deliveries?limit=1`);
  places = {
    overview: '#/overview',
    subscriptions: '#/subscriptions',
    subscription: `#/subscriptions/${world.webhooks.failing}`,
    delivery: `#/deliveries/${world.webhooks.failing}/${encodeURIComponent(deliveries[0].deliveryId)}`,
    'dead letters': '#/dead-letters',
    'dead letters of one': `#/dead-letters/${world.webhooks.failing}`,
    runs: '#/runs',
    run: `#/runs/${encodeURIComponent(world.runs.approval)}`,
    audit: '#/audit',
    keys: '#/keys',
    'run with an artifact': `#/runs/${encodeURIComponent(runId)}`,
    roles: '#/roles',
    host: '#/host?show=all',
  };
  const path = `/runs/${runId.replace('/', '~2F')}`;
  await eventually('the artifact', async () => (await host.call('GET', path)).status === 'completed');
});

after(async () => {
  await browser?.close();
  world?.stop();
  await host?.stop();
});

/** Goes to a place, and waits until its data is shown. */
async function visit(page, place) {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, place);
  await page.locator('main :is(table, .facts, .tiles)').first().waitFor();
  await page.locator('main [aria-busy="true"]').first().waitFor({ state: 'detached' });
  await page.getByText('Reading …', { exact: true }).first().waitFor({ state: 'detached' });
}

for (const colorScheme of ['light', 'dark']) {
  test(`axe finds nothing on any screen, ${colorScheme}`, async () => {
    const options = { colorScheme, bypassCSP: true };
    // A scheme changes colours alone.
    const violations = colorScheme === 'light' ? violationsOf : violationsOfColours;
    const { page, context } = await openConsole(browser, `${host.url}/console/`, options);
    await page.evaluate(AXE);
    assert.deepEqual(await violations(page), [], 'sign in');
    await page.getByLabel('API key or access token').fill(KEY);
    await page.keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Sections' }).waitFor();
    for (const [name, place] of Object.entries(places)) {
      await visit(page, place);
      await unfold(page);
      assert.deepEqual(await violations(page), [], name);
    }
    await visit(page, places.subscription);
    await page.getByRole('button', { name: /^Redrive/ }).click();
    await page.getByText('This sends').waitFor();
    assert.deepEqual(await violations(page), [], 'the dialog');
    await visit(page, places.roles);
    await page.getByRole('button', { name: 'Assign a role …' }).click();
    assert.deepEqual(await violations(page), [], 'the dialog of a role');
    await context.close();
  });
}

/** Opens the tables of charts, and verifies the audit log. */
async function unfold(page) {
  for (const summary of await page.getByText('As a table').all()) await summary.click();
  const verify = page.getByRole('button', { name: 'Verify now' });
  if ((await verify.count()) === 0) return;
  await verify.click();
  await page.getByText('Not looked at.').waitFor();
}

test('no screen scrolls sideways at a width of 320 px, nor with a text of twice the size', async () => {
  const { page, context, faults } = await signedIn(browser, host, KEY, '', { viewport: { width: 320, height: 640 } });
  for (const [name, place] of Object.entries(places)) {
    await visit(page, place);
    await unfold(page);
    assert.ok((await excess(page)) <= 0, `${name} is ${await excess(page)} px too wide`);
  }
  await page.setViewportSize({ width: 640, height: 640 });
  await page.evaluate(() => {
    document.documentElement.style.fontSize = '30px';
  });
  for (const [name, place] of Object.entries(places)) {
    await visit(page, place);
    assert.ok((await excess(page)) <= 0, `${name} is ${await excess(page)} px too wide with a large text`);
  }
  assert.deepEqual(faults, []);
  await context.close();
});

async function excess(page) {
  return await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}

test('with forced colours every state is still a word', async () => {
  const { page, context, faults } = await signedIn(browser, host, KEY, '', { forcedColors: 'active' });
  await visit(page, places.overview);
  await page.getByText('failing', { exact: true }).waitFor();
  await page.getByText('HTTP 500', { exact: true }).first().waitFor();
  await page.getByText('down: failed').waitFor();
  const fills = await page.locator('.chart path').evaluateAll((all) => all.map((path) => getComputedStyle(path).fill));
  const ground = await page.locator('.chart').evaluate((chart) => getComputedStyle(chart).backgroundColor);
  assert.ok(fills.length > 0 && fills.every((fill) => fill !== ground), 'the bars of a chart are seen');
  assert.deepEqual(faults, []);
  await context.close();
});

test('the keyboard alone signs in, skips the navigation, opens a dialog and leaves it, and the focus follows', async () => {
  const { page, context, faults } = await openConsole(browser, `${host.url}/console/`);
  await page.locator('#credential:focus').waitFor();
  await page.keyboard.type(KEY);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  assert.equal(await focused(), 'Overview');
  await page.keyboard.press('Shift+Tab');
  // The skip link is the first stop of the page.
  for (let stops = 0; stops < 12 && !(await focused()).startsWith('Skip'); stops += 1)
    await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'main');
  const opener = page.getByRole('button', { name: 'Redrive …' });
  await opener.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await focused(), 'Redrive …');
  assert.deepEqual(faults, []);
  await context.close();
});

/** Texts that would be markup, script, another direction or another line, if they were anything but text. */
const HOSTILE = [
  '<img src=x onerror="window.pwned=1">',
  '<script>window.pwned=1</script>',
  '"><svg/onload=window.pwned=1>',
  "javascript:window.pwned=1//'",
  '{{constructor.constructor("window.pwned=1")()}}',
  '</title><script>window.pwned=1</script>',
  'invoice\u202egnp.exe',
  'one\u2028two\u0000three',
];

test('texts of strangers stay texts, in every place that shows one', async () => {
  const receiver = await startReceiver('/%3Cimg%20src=x%20onerror=window.pwned=1%3E/javascript:alert(1)');
  receiver.status = 500;
  const { webhookId } = await host.call('POST', '/webhooks', {
    url: receiver.url,
    events: ['run.completed', 'run.failed'],
    tags: HOSTILE.map((text) => text.replaceAll('\u0000', '')),
  });
  const id = webhookId.split('/')[1];
  const { page, context, faults } = await signedIn(browser, host, KEY);
  for (const text of HOSTILE) {
    const description = text.replaceAll('\u0000', '');
    await host.call('PATCH', `/host/example/webhooks/${id}`, { description });
    const { runId } = await host.call('POST', '/runs', {
      workflowId: 'echo',
      inputs: { [text]: text },
      tags: [description],
    });
    for (const place of ['#/subscriptions', `#/subscriptions/${id}`, `#/runs/${encodeURIComponent(runId)}`]) {
      await visit(page, place);
    }
    const payload = page.locator('.log summary').filter({ hasText: 'run.started' });
    await payload.click();
    await page.locator('.log pre').waitFor();
  }
  const asked = await host.call('POST', '/runs', {
    workflowId: 'clarification',
    inputs: { question: HOSTILE[0], choices: HOSTILE.map((text) => text.replaceAll('\u0000', '')) },
  });
  await visit(page, `#/runs/${encodeURIComponent(asked.runId)}`);
  await page.getByLabel(HOSTILE[0]).waitFor();
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator('img, script:not([src]), iframe, [onerror], [onload]').count(), 0);
  assert.ok(
    (await page.locator('a').evaluateAll((links) => links.map(({ protocol }) => protocol))).every((name) =>
      /^http/.test(name),
    ),
  );
  assert.deepEqual(faults, []);
  receiver.stop();
  await context.close();
});

test('the page asks no other origin, and no request but those of its own host', async () => {
  const { page, context } = await openConsole(browser, 'about:blank');
  const origins = new Set();
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  await page.goto(`${host.url}/console/#key=${KEY}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  for (const place of Object.values(places)) await visit(page, place);
  assert.deepEqual([...origins], [host.url]);
  await context.close();
});

test('the first paint comes soon, and the files are small', async (given) => {
  const { page, context } = await openConsole(browser, `${host.url}/console/`);
  const paint = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const observer = new PerformanceObserver((list) => {
          const [first] = list.getEntriesByName('first-contentful-paint');
          if (first !== undefined) resolve(first.startTime);
        });
        observer.observe({ type: 'paint', buffered: true });
      }),
  );
  const bytes = await page.evaluate(() =>
    performance.getEntriesByType('resource').reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  );
  given.diagnostic(`first contentful paint after ${Math.round(paint)} ms, ${bytes} bytes of files`);
  assert.ok(paint < 5000, `the first paint took ${paint} ms`);
  assert.ok(bytes < 40 * 1024, `the files have ${bytes} bytes`);
  await context.close();
});
