import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bootHost, eventually, KEY, OTHER_KEY, startReceiver } from './booted-host.mjs';
import { openConsole, signedIn, startBrowser } from './browser.mjs';
import { deadLettersOf, fill, LETTERS } from './world.mjs';

let host;
let world;
let browser;

before(async () => {
  host = await bootHost();
  world = await fill(host);
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  world?.stop();
  await host?.stop();
});

test('a key that is not valid is refused, and one of a link is used only when the user says so', async () => {
  const { page, context, faults } = await openConsole(browser, `${host.url}/console/#key=${KEY}`);
  assert.equal(new URL(page.url()).hash, '#/overview', 'the key left the address');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  const field = page.getByLabel('API key or access token');
  assert.equal(await field.inputValue(), KEY);
  await field.fill('a-key-that-nobody-has-ever-made');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  await field.fill(KEY);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const stored = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]);
  assert.deepEqual(stored, [0, 0, '']);
  assert.deepEqual(await context.cookies(), []);
  await page.goto(`${host.url}/console/?again`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.goto(`${host.url}/console/?again#key=${KEY}`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.waitForFunction((key) => document.querySelector('input')?.value === key, KEY);
  assert.equal(new URL(page.url()).hash, '#/overview', 'the key of a link in an open tab left the address');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  assert.equal(await field.inputValue(), '', 'the key is gone after the sign-out');
  assert.deepEqual(faults, []);
  await context.close();
});

test('from the overview: why the receiver fails in one click, redriven in two more, and watched until it is drained', async () => {
  const { page, context, faults } = await signedIn(browser, host, KEY);
  await page.getByText('1 subscription needs attention.').waitFor();
  // The first click.
  await page.getByRole('link', { name: 'See why' }).click();
  await page.getByRole('heading', { name: 'Why it fails' }).waitFor();
  await page.getByText('The receiver failed while it handled the delivery.').waitFor();
  world.failing.status = 200;
  // The second and the third one.
  await page.getByRole('button', { name: `Redrive ${LETTERS} dead letters …` }).click();
  await page.getByText(`This sends ${LETTERS} deliveries again to ${world.failing.url}`).waitFor();
  await page.getByRole('button', { name: `Redrive ${LETTERS} deliveries` }).click();
  await page.getByText('The backlog is drained: nothing waits, and no dead letter is left.').waitFor();
  await page.getByText('healthy', { exact: true }).waitFor();
  assert.equal(await deadLettersOf(host, world.webhooks.failing), 0);
  assert.equal(world.failing.received, LETTERS);
  await page.getByText(`this subscription: ${LETTERS} attempts delivered`).waitFor();
  const { entries } = await host.call('GET', '/host/example/audit?action=webhook.redrive-job');
  assert.deepEqual(
    entries.map(({ actor }) => actor),
    ['p_ada'],
    'the redrive is an audit fact',
  );
  assert.deepEqual(faults, []);
  await context.close();
});

test('a delivery shows its attempts, and is sent again', async () => {
  const { page, context, faults } = await signedIn(browser, host, KEY, `#/subscriptions/${world.webhooks.healthy}`);
  await page.getByRole('table', { name: 'Last attempts' }).getByRole('link').first().click();
  await page.getByText('Attempt 1: HTTP 200').waitFor();
  const before = world.healthy.received;
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('The delivery is queued again.').waitFor();
  await eventually('the delivery arrives again', () => world.healthy.received > before);
  assert.deepEqual(faults, []);
  await context.close();
});

test('a subscription is paused, resumed, and tested', async () => {
  const { page, context, faults } = await signedIn(browser, host, KEY, `#/subscriptions/${world.webhooks.healthy}`);
  const state = async () => (await host.call('GET', `/host/example/webhooks/${world.webhooks.healthy}`)).state;
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  assert.equal(await state(), 'paused');
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  assert.equal(await state(), 'active');
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('Test: HTTP 200.').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a secret is rotated: it is shown once, and both secrets sign', async () => {
  const receiver = await startReceiver('/standard');
  const { webhookId } = await host.call('POST', '/webhooks', {
    ...{ url: receiver.url, events: ['run.completed'], signatureAlgorithms: ['v1', 'standard-webhooks-1'] },
    secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  });
  const id = webhookId.split('/')[1];
  const { page, context, faults } = await signedIn(browser, host, KEY, `#/subscriptions/${id}`);
  await page.getByRole('button', { name: 'Rotate the secret …' }).click();
  await page.getByRole('button', { name: 'Rotate now' }).click();
  const secret = await page.locator('pre.secret').innerText();
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  await page.getByRole('button', { name: 'Close' }).click();
  assert.ok(!(await page.content()).includes(secret), 'the secret is no longer on the page');
  await page.getByText('the former one signs too').waitFor();
  await host.call('POST', '/runs', { workflowId: 'echo', inputs: {} });
  await eventually('a delivery with both signatures', () => receiver.signatures === 2);
  assert.deepEqual(faults, []);
  receiver.stop();
  await context.close();
});

test('without a network the page says that it is stale, keeps its data, and recovers', async () => {
  const { page, context, faults } = await signedIn(browser, host, KEY);
  await page.getByText('Latest attempts').first().waitFor();
  await page.locator('.chart').waitFor();
  // The page reads again when it becomes visible.
  const read = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await context.setOffline(true);
  await read();
  await page.getByText('The host does not answer.').waitFor();
  await page.getByText(/^stale: /).waitFor();
  assert.ok(await page.getByRole('table', { name: 'Latest attempts' }).isVisible());
  assert.ok(await page.locator('.chart').isVisible());
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('live', { exact: true }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a list of runs shows a new run by itself, and a question is answered with its form', async () => {
  const { page, context, faults } = await signedIn(browser, host, KEY, '#/runs');
  await page.getByText('live', { exact: true }).waitFor();
  await host.call('POST', '/runs', { workflowId: 'artifact', inputs: { content: 'a draft' } });
  await page.getByRole('link', { name: 'artifact', exact: true }).waitFor();
  await page.getByRole('link', { name: 'clarification', exact: true }).click();
  await page.getByRole('heading', { name: 'The run asks' }).waitFor();
  await page.getByLabel('Which colour?').selectOption('blue');
  await page.getByRole('button', { name: 'Answer' }).click();
  await page.getByText('run.completed').waitFor();
  await page.getByText('completed', { exact: true }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'approval', exact: true }).click();
  await page.getByRole('heading', { name: 'Publish the release notes?' }).waitFor();
  await page.getByLabel('Feedback (optional)').fill('Well done.');
  await page.getByRole('button', { name: 'Accept', exact: true }).click();
  await page.getByText('run.completed').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a key is made, shown once, and revoked', async () => {
  const { page, context, faults } = await signedIn(browser, host, KEY, '#/keys');
  await page.getByRole('button', { name: 'Create a key …' }).click();
  await page.getByLabel('Name, for people').fill('Nightly reports');
  await page.getByLabel('Scopes, separated by commas').fill('runs:read');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const key = await page.locator('pre.secret').innerText();
  await host.call('GET', '/runs', undefined, key);
  await page.getByRole('button', { name: 'Close' }).click();
  assert.ok(!(await page.content()).includes(key), 'the key is no longer on the page');
  const row = page.getByRole('row').filter({ hasText: 'Nightly reports' });
  await row.getByRole('button', { name: 'Revoke …' }).click();
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await row.getByText('revoked').waitFor();
  await assert.rejects(host.call('GET', '/runs', undefined, key), /401/);
  assert.deepEqual(faults, []);
  await context.close();
});

test('the session ends when its key is revoked', async () => {
  const { key, apiKey } = await host.call('POST', '/host/example/keys', {
    name: 'Short',
    scopes: ['runs:read', 'webhooks:manage'],
  });
  const { page, context, faults } = await signedIn(browser, host, key);
  await host.call('POST', `/host/example/keys/${apiKey.id}/revoke`);
  // A read of the overview may end the session before, and then there is no link to click.
  await page.evaluate(() => {
    location.hash = '#/subscriptions';
  });
  await page.getByText('The host no longer accepts this credential. Sign in again.').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('an operator of another tenant sees nothing of this one, on any screen and by any address', async () => {
  const { page, context, faults } = await signedIn(browser, host, OTHER_KEY);
  const places = [
    ...['#/overview', '#/subscriptions', '#/dead-letters', '#/runs', '#/audit?show=all', '#/keys', '#/host'],
    ...[`#/subscriptions/${world.webhooks.failing}`, `#/dead-letters/${world.webhooks.failing}`],
    ...['#/dead-letters?status=500', `#/subscriptions/${world.webhooks.failing}?hours=24`, '#/roles'],
    `#/runs/${encodeURIComponent(world.runs.failed)}`,
  ];
  for (const place of places) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, place);
    await page.waitForLoadState('networkidle');
    await page.locator('main :is(.empty, .notice, table, .verdict)').first().waitFor();
    const shown = await page.locator('main').innerText();
    for (const secret of [
      world.failing.url,
      world.healthy.url,
      'Orders of the shop',
      'p_ada',
      'declined',
      'Operators of acme',
    ]) {
      assert.ok(!shown.includes(secret), `${place} shows ${secret}`);
    }
  }
  await page.goto(`${host.url}/console/#/subscriptions/${world.webhooks.failing}`);
  await page.getByText('This does not exist, or not for this credential.').first().waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});
