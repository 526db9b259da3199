import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { env } from 'node:process';
import { after, before, test } from 'node:test';
import { EventSource } from 'eventsource';
import { chromium } from 'playwright-core';
import { bootHost, endedRun, KEY } from './booted-host.mjs';

let host;
let page;
let browser;

before(async () => {
  page = await startPage();
  host = await bootHost({ cors: { origins: [page.origin] } });
  page.host = host.url;
  const executablePath = [env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
    (path) => path !== undefined && existsSync(path),
  );
  assert.ok(executablePath, 'Chromium is not installed. Install it (apt-get install chromium), or set CHROMIUM.');
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
});

after(async () => {
  await browser?.close();
  await host?.stop();
  page?.server.closeAllConnections();
  page?.server.close();
});

for (const [major, path, headers] of [
  [1, '/v1/runs', {}],
  [2, '/runs', { 'SVC-Version': '2' }],
]) {
  test(`EventSource of npm ends on an ended run, major ${major}`, async () => {
    const runId = await endedRun(host.url);
    const statuses = [];
    const source = new EventSource(`${host.url}${path}/${runId}/events`, {
      async fetch(url, init) {
        const all = { ...init.headers, ...headers, authorization: `Bearer ${KEY}` };
        const response = await fetch(url, { ...init, headers: all });
        statuses.push(response.status);
        return response;
      },
    });
    await new Promise((resolve) => {
      source.addEventListener('error', () => source.readyState === EventSource.CLOSED && resolve());
    });
    assert.deepEqual(statuses, [200, 204]);
  });
}

test('EventSource of a browser ends on an ended run', async () => {
  // It cannot send a credential itself, so the server of the page adds it.
  const runId = await endedRun(host.url);
  const seen = await inBrowser(async (path) => {
    const types = [];
    const source = new EventSource(path);
    for (const type of ['run.started', 'run.completed']) source.addEventListener(type, () => types.push(type));
    await new Promise((resolve) => {
      source.onerror = () => source.readyState === EventSource.CLOSED && resolve();
    });
    return types;
  }, `/v1/runs/${runId}/events`);
  assert.deepEqual(seen, ['run.started', 'run.completed']);
  assert.deepEqual(page.statuses, [200, 204]);
});

test('a page of a permitted origin calls every family, and reads the headers of the answers', async () => {
  const answers = await inBrowser(callAll, { url: host.url, key: KEY });
  assert.deepEqual(answers, [
    ['POST /v1/runs', 201, '1.1'],
    ['GET /runs', 200, '2.0'],
    ['PUT /v1/host/workspace/files/notes.md', 200, '1.1'],
    ['DELETE /v1/host/workspace/files/notes.md', 204, '1.1'],
    ['GET /host/example/status', 200, null],
    ['POST /host/example/mcp', 200, null],
    ['GET /v1/runs', 401, '1.1'],
  ]);
});

test('a page of another origin reads nothing', async () => {
  const stranger = await startPage();
  try {
    const failed = await inBrowser(
      ({ url, key }) => fetch(`${url}/v1/runs`, { headers: { authorization: `Bearer ${key}` } }).catch(String),
      { url: host.url, key: KEY },
      stranger.origin,
    );
    assert.match(failed, /TypeError: Failed to fetch/);
    const plain = await inBrowser((url) => fetch(`${url}/.well-known/svc`).catch(String), host.url, stranger.origin);
    assert.match(plain, /TypeError: Failed to fetch/);
  } finally {
    stranger.server.closeAllConnections();
    stranger.server.close();
  }
});

/** Runs in the page. */
async function callAll({ url, key }) {
  const answers = [];
  const call = async (method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(headers.anonymous === undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    answers.push([`${method} ${path}`, response.status, response.headers.get('svc-version')]);
  };
  await call('POST', '/v1/runs', { workflowId: 'echo', inputs: {} }, { 'Idempotency-Key': crypto.randomUUID() });
  await call('GET', '/runs', undefined, { 'SVC-Version': '2', 'SVC-Client-Version': '2.0', 'If-None-Match': '"x"' });
  await call('PUT', '/v1/host/workspace/files/notes.md', { content: 'hello' });
  await call('DELETE', '/v1/host/workspace/files/notes.md');
  await call('GET', '/host/example/status');
  const accept = 'application/json, text/event-stream';
  await call('POST', '/host/example/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }, { accept });
  const response = await fetch(`${url}/v1/runs`);
  answers.push(['GET /v1/runs', response.status, response.headers.get('svc-version')]);
  return answers;
}

/** Runs a function in a page of an origin. */
async function inBrowser(run, argument, origin = page.origin) {
  const tab = await browser.newPage();
  try {
    await tab.goto(`${origin}/page`);
    return await tab.evaluate(run, argument);
  } finally {
    await tab.close();
  }
}

/** Starts a server that shows an empty page, and passes other requests to the host with the credential. */
async function startPage() {
  const started = { statuses: [] };
  started.server = createServer(async (request, response) => {
    if (request.url === '/page') return response.writeHead(200, { 'content-type': 'text/html' }).end('<p>page</p>');
    if (request.url === '/favicon.ico') return response.writeHead(404).end();
    const lastEventId = request.headers['last-event-id'];
    const answer = await fetch(started.host + request.url, {
      headers: {
        authorization: `Bearer ${KEY}`,
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
    });
    started.statuses.push(answer.status);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const piece of answer.body ?? []) response.write(piece);
    response.end();
  });
  await new Promise((resolve) => started.server.listen(0, '127.0.0.1', resolve));
  started.origin = `http://127.0.0.1:${started.server.address().port}`;
  return started;
}
