import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AXE, violationsOf, violationsOfColours } from './axe.mjs';
import { bootHost, eventually, OTHER_KEY } from './booted-host.mjs';
import { openConsole, startBrowser } from './browser.mjs';
import { startEmbedder } from './embedder.mjs';
import { fill, LETTERS } from './world.mjs';

const ALL = ['view', 'redrive', 'edit', 'pause', 'test', 'rotate'];

let host;
let world;
let browser;
let app;
let stranger;

before(async () => {
  host = await bootHost();
  world = await fill(host);
  [app, stranger] = [await startEmbedder(host), await startEmbedder(host)];
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  for (const each of [app, stranger, world]) each?.stop();
  await host?.stop();
});

const create = (fields = {}, key = undefined) =>
  host.call('POST', '/host/example/portal-sessions', { actions: ALL, eventTypes: ['run.completed'], ...fields }, key);

/** Opens the application of a customer, and shows a session in it. */
async function embedded(url, { at = app, path = '/', ...options } = {}) {
  const opened = await openConsole(browser, at.origin + path, options);
  await opened.page.waitForFunction(() => customElements.get('svc-portal') !== undefined || window.React !== undefined);
  // The module of the component has run when it hears the event.
  await opened.page.waitForLoadState('load');
  await opened.page.evaluate((detail) => dispatchEvent(new CustomEvent('show', { detail })), url);
  const frame = opened.page.frameLocator('iframe');
  return { ...opened, frame };
}

// First: the receiver fails, and has dead letters that could be redriven.
test('the page shows no control beyond the actions of the session', async () => {
  const { url } = await create({ origin: app.origin, actions: ['view'] });
  const { frame, context } = await embedded(url);
  await frame.getByRole('link', { name: /orders/ }).click();
  await frame.getByRole('heading', { name: 'Why it fails' }).waitFor();
  const buttons = await frame.getByRole('button').allTextContents();
  assert.deepEqual(
    buttons.filter((name) => /Redrive|test|Pause|Resume|Rotate|Edit|again …/.test(name)),
    [],
  );
  await context.close();
});

test('a customer finds why a receiver fails, redrives, and watches the backlog drain, in the application', async () => {
  const { url } = await create({ origin: app.origin, theme: { accent: 'teal', scheme: 'light' } });
  const { page, frame, faults, context } = await embedded(url);
  await frame.getByRole('link', { name: /orders/ }).click();
  await frame.getByRole('heading', { name: 'Why it fails' }).waitFor();
  assert.equal(await frame.getByText('run.failed').count(), 0);
  world.failing.status = 200;
  await frame.getByRole('button', { name: `Redrive ${LETTERS} dead letters …` }).click();
  await frame.getByRole('button', { name: `Redrive ${LETTERS} deliveries` }).click();
  await frame.getByText('The backlog is drained').waitFor();
  await frame.getByRole('button', { name: 'Send a test' }).click();
  await frame.getByText('The receiver accepted the delivery.').first().waitFor();
  // The frame is as high as its content, so that the application scrolls and the frame does not.
  const height = () => page.locator('iframe').evaluate((element) => element.clientHeight);
  const content = () => frame.locator('body').evaluate((body) => body.scrollHeight);
  await eventually('the height', async () => Math.abs((await height()) - (await content())) <= 1);
  assert.ok((await height()) > 600);
  assert.deepEqual(faults, []);
  await context.close();
  world.failing.status = 500;
});

test('a customer edits a subscription, pauses and resumes it', async () => {
  const { url } = await create({ origin: app.origin, eventTypes: ['run.completed', 'run.failed'] });
  const { frame, context, faults } = await embedded(url);
  await frame.getByRole('link', { name: /ledger/ }).click();
  await frame.getByRole('button', { name: 'Edit …' }).click();
  await frame.getByLabel('Description').fill('The ledger of the shop');
  await frame.getByLabel('run.failed').uncheck();
  await frame.getByRole('button', { name: 'Save' }).click();
  await frame.getByText('The ledger of the shop').waitFor();
  const read = () => host.call('GET', `/host/example/webhooks/${world.webhooks.healthy}`);
  assert.deepEqual((await read()).events, ['run.completed']);
  await frame.getByRole('button', { name: 'Pause' }).click();
  await frame.getByRole('button', { name: 'Resume' }).click();
  await frame.getByRole('button', { name: 'Pause' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a browser embeds the page of a session in its one origin alone', async () => {
  const { url } = await create({ origin: app.origin });
  const { frame, page, context } = await embedded(url, { at: stranger });
  await page.locator('iframe').waitFor();
  await eventually('the refusal', () =>
    page.frames().some((each) => each !== page.mainFrame() && each.url().startsWith('chrome-error:')),
  );
  assert.equal(await frame.locator('.portal').count(), 0);
  await context.close();
  // The code was not used up, and an address with another origin is worth nothing.
  const forged = url.replace(encodeURIComponent(app.origin), encodeURIComponent(stranger.origin));
  const other = await embedded(forged, { at: stranger });
  await other.frame.getByText('The portal is closed').waitFor();
  await other.context.close();
  const own = await embedded(url);
  await own.frame.getByRole('heading', { name: 'Subscriptions' }).waitFor();
  await own.context.close();
});

test('a session without an origin is a page of its own, and no page embeds it', async () => {
  const { url } = await create();
  const { page, context, faults } = await openConsole(browser, url);
  await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
  // Neither the address nor the history of the tab has the code, and no storage has the token.
  assert.equal(new URL(page.url()).hash, '');
  const stored = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]);
  assert.deepEqual(stored, [0, 0, '']);
  assert.deepEqual(faults, []);
  await context.close();
  const second = await openConsole(browser, url);
  await second.page.getByText('The code is unknown, used or expired.').waitFor();
  await second.context.close();
  const framed = await embedded((await create()).url);
  await eventually('the refusal', () => framed.page.frames().some((each) => each.url().startsWith('chrome-error:')));
  await framed.context.close();
});

test('a revoked session closes the page, and tells the application', async () => {
  const { url, session } = await create({ origin: app.origin });
  const { page, frame, context } = await embedded(url, { path: '/react' });
  await frame.getByRole('link', { name: /orders/ }).click();
  await frame.getByRole('heading', { name: 'Last attempts' }).waitFor();
  assert.equal(await page.locator('iframe').getAttribute('title'), 'Our webhooks');
  await host.call('POST', `/host/example/portal-sessions/${session.sessionId}/revoke`);
  await frame.getByText('The portal is closed').waitFor();
  await page.waitForFunction(() => document.title === 'ended');
  await context.close();
});

test('messages of another page do not change the element', async () => {
  const { url } = await create({ origin: app.origin });
  const { page, frame, context } = await embedded(url);
  await frame.getByRole('heading', { name: 'Subscriptions' }).waitFor();
  await page.evaluate(async () => {
    for (const data of [{ type: 'svc-portal:height', height: 19_999 }, { type: 'svc-portal:ended' }])
      window.postMessage(data, location.origin);
    await new Promise((resolve) => setTimeout(resolve, 200));
  });
  assert.equal(await page.title(), 'app');
  assert.ok((await page.locator('iframe').evaluate((element) => element.clientHeight)) < 5000);
  await context.close();
});

test('a session of another tenant sees nothing of this one, in the page and by its token', async () => {
  const mine = await create({}, OTHER_KEY);
  const { page, context } = await openConsole(browser, mine.url);
  await page.getByText('No subscription yet').waitFor();
  await page.evaluate((id) => {
    location.hash = `#/subscriptions/${id}`;
  }, world.webhooks.failing);
  await page.getByText('There is no such subscription').waitFor();
  await context.close();
  const { code } = await create({}, OTHER_KEY);
  const exchanged = await fetch(`${host.url}/host/example/portal/exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  const { token } = await exchanged.json();
  const described = async (path) =>
    Object.entries((await (await fetch(host.url + path)).json()).paths).flatMap(([each, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), each]),
    );
  const ask = async (method, path) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(method !== 'GET' && { body: '{}' }) };
    const filled = path.replace('{webhookId}', world.webhooks.failing).replace(/\{\w+\}/g, 'x_1');
    return await fetch(host.url + filled, init);
  };
  const own = await described('/host/example/portal/openapi.json');
  const ofWebhook = own.filter(([, path]) => path.includes('{webhookId}'));
  assert.ok(ofWebhook.length > 10);
  for (const [method, path] of ofWebhook) {
    const answer = await ask(method, path);
    assert.ok([400, 404].includes(answer.status), `${method} ${path}: ${answer.status}`);
    assert.ok(!(await answer.text()).includes('127.0.0.1'));
  }
  for (const [method, path] of await described('/host/example/openapi.json'))
    assert.equal((await ask(method, path)).status, 401, `${method} ${path}`);
});

for (const scheme of ['light', 'dark']) {
  test(`axe finds nothing in any accent, ${scheme}`, async () => {
    for (const accent of ['blue', 'teal', 'green', 'violet', 'rose', 'slate']) {
      const { url } = await create({ theme: { scheme, accent, corners: accent === 'rose' ? 'square' : 'round' } });
      const { page, context } = await openConsole(browser, url, { bypassCSP: true });
      await page.evaluate(AXE);
      // An accent changes colours alone.
      const violations = accent === 'blue' ? violationsOf : violationsOfColours;
      await page.getByRole('link', { name: /orders/ }).waitFor();
      assert.deepEqual(await violations(page), [], `${accent}: subscriptions`);
      await page.getByRole('link', { name: /orders/ }).click();
      await page.getByRole('heading', { name: 'Last attempts' }).waitFor();
      assert.deepEqual(await violations(page), [], `${accent}: subscription`);
      await page.getByRole('button', { name: 'Edit …' }).click();
      await page.getByLabel('run.completed').waitFor();
      assert.deepEqual(await violations(page), [], `${accent}: edit`);
      await context.close();
    }
  });
}

test('the portal fits in 320 px', async () => {
  const { url } = await create();
  const { page, context } = await openConsole(browser, url, { viewport: { width: 320, height: 640 } });
  await page.getByRole('link', { name: /orders/ }).click();
  await page.getByRole('heading', { name: 'Last attempts' }).waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 320, `the page is ${wide} px wide`);
  await context.close();
});
