import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { manualClock } from '../streams/manual-clock.ts';
import { type TriggerHost, triggerHost } from './trigger-host.ts';

const PAGE = 'https://www.example.com';
const HOST = 'https://svc.example.com';
const HOUR_MS = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), 'svc-forms-'));
let world: TriggerHost;

beforeAll(async () => {
  const rate = { limit: 100_000, windowSeconds: 60 };
  const triggers = { maxBodyBytes: 10_000, perClient: rate, perTrigger: rate };
  world = await triggerHost({ store: sqliteStore(join(folder, 'svc.db')), triggers });
});
afterAll(async () => {
  await world.host.stop(0);
  rmSync(folder, { recursive: true, force: true });
});

const FORM = {
  ...{ source: 'form', webhook: undefined, secret: undefined, form: { origins: [PAGE] } },
  mapping: { workflowId: 'echo', inputs: { name: { pointer: '/body/name' } } },
};

async function registered(fields: object = {}): Promise<string> {
  return (await world.register({ ...FORM, ...fields })).triggerId;
}

async function fetched(path: string, init: RequestInit, address = '192.0.2.1') {
  const response = await world.host.fetch(new Request(`${HOST}/host/example/forms/${path}`, init), { address });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

async function tokenOf(triggerId: string, headers: Record<string, string> = { origin: PAGE }): Promise<string> {
  const { status, body } = await fetched(`${triggerId}/token`, { headers });
  expect(status).toBe(200);
  return body.token;
}

function submit(triggerId: string, fields: Record<string, string>, headers: Record<string, string> = { origin: PAGE }) {
  return fetched(triggerId, { method: 'POST', headers, body: new URLSearchParams(fields) });
}

let visitors = 0;
const visitor = () => `Visitor ${visitors++}`;
const runsOf = async (name: string) => (await world.runs()).filter(({ inputs }) => inputs.name === name);

/** The numbers of runs and of facts about refused requests. */
async function counted() {
  return { runs: (await world.runs()).length, refusals: (await world.facts('request.refused')).length };
}

describe(covers('triggers.subscription.registration', 'triggers.form.origin'), () => {
  test('a page of a listed origin starts a run of the registrar, in both media types', async () => {
    const { triggerId, subscription, binding, secret } = await world.register(FORM);
    expect(subscription).toMatchObject({ source: 'form', state: 'active' });
    expect([binding, secret]).toEqual([{ ingestUrl: `${HOST}/host/example/forms/${triggerId}` }, undefined]);
    const [first, second] = [visitor(), visitor()];
    const { status, body, headers } = await submit(triggerId, { name: first, svc_token: await tokenOf(triggerId) });
    expect([status, body.outcome, body.repeated]).toEqual([202, 'delivered', false]);
    expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([
      PAGE,
      expect.stringMatching(/origin/i),
    ]);
    const form = new FormData();
    form.append('name', second);
    form.append('svc_token', await tokenOf(triggerId));
    expect((await fetched(triggerId, { method: 'POST', headers: { origin: PAGE }, body: form })).status).toBe(202);
    expect([await runsOf(first), await runsOf(second)].map(({ length }) => length)).toEqual([1, 1]);
    const run = (await world.runs()).find(({ inputs }) => inputs.name === first);
    expect(run).toMatchObject({ causationId: body.deliveryId.split('/')[1], owner: { principal: 'p_owner' } });
    const served = (await world.facts('request')).filter(({ actor }) => actor?.startsWith('anon_'));
    expect(served.length).toBeGreaterThan(0);
  });

  test('a page of the host itself gets its token without an Origin, as a browser sends it', async () => {
    const triggerId = await registered({ form: undefined });
    const token = await tokenOf(triggerId, { 'sec-fetch-site': 'same-origin' });
    expect((await submit(triggerId, { name: visitor(), svc_token: token }, { origin: HOST })).status).toBe(202);
  });

  test.each<[string, Record<string, string>]>([
    ['without an Origin', {}],
    ['of an opaque origin', { origin: 'null' }],
    ['of another origin', { origin: 'https://evil.example' }],
    ['of a listed origin with another port', { origin: `${PAGE}:8443` }],
    ['of a listed origin without TLS', { origin: 'http://www.example.com' }],
    ['of a listed origin in capitals', { origin: 'https://WWW.example.com' }],
    ['of the host, by its metadata alone', { 'sec-fetch-site': 'same-origin' }],
  ])('a submission %s is refused, starts nothing and is one audit fact', async (_of, headers) => {
    const triggerId = await registered();
    const token = await tokenOf(triggerId);
    const before = await counted();
    const { status, body } = await submit(triggerId, { name: visitor(), svc_token: token }, headers);
    expect([status, body.error]).toEqual([403, 'forbidden']);
    expect(await counted()).toEqual({ runs: before.runs, refusals: before.refusals + 1 });
  });

  test('a token is refused to other pages', async () => {
    const triggerId = await registered();
    const others = [{}, { origin: 'null' }, { origin: 'https://evil.example' }, { 'sec-fetch-site': 'same-site' }];
    for (const headers of others) expect((await fetched(`${triggerId}/token`, { headers })).status).toBe(403);
  });

  test.each([
    ['an origin with a path', { form: { origins: [`${PAGE}/form`] } }, 'form.origins'],
    ['an origin without TLS', { form: { origins: ['http://www.example.com'] } }, 'form.origins'],
    ['any origin', { form: { origins: ['*'] } }, 'form.origins'],
    ['the opaque origin', { form: { origins: ['null'] } }, 'form.origins'],
    ['a secret', { secret: 'a secret of a sender' }, 'secret'],
  ])('a registration with %s is rejected', async (_name, fields, field) => {
    const { status, body } = await world.call('owner', 'POST', '/trigger-subscriptions', { ...FORM, ...fields });
    expect(status).toBe(400);
    expect(JSON.stringify(body.details)).toContain(field);
  });

  test('an edit replaces the origins', async () => {
    const triggerId = await registered();
    const token = await tokenOf(triggerId);
    const path = `/host/example/triggers/${triggerId}`;
    expect((await world.call('owner', 'PATCH', path, { form: { origins: [] } })).body.form).toEqual({ origins: [] });
    expect((await submit(triggerId, { name: visitor(), svc_token: token })).status).toBe(403);
  });
});

describe(covers('triggers.form.token'), () => {
  test('the same submission gets the first answer, and another one with its token is refused', async () => {
    const triggerId = await registered();
    const fields = { name: visitor(), svc_token: await tokenOf(triggerId) };
    const first = await submit(triggerId, fields);
    expect(first.status).toBe(202);
    for (let n = 0; n < 2; n++) {
      const again = await submit(triggerId, fields);
      expect([again.status, again.body]).toEqual([200, { ...first.body, repeated: true }]);
    }
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    const other = await fetched(triggerId, { method: 'POST', headers: { origin: PAGE }, body: form });
    expect([other.status, other.body.runId]).toEqual([200, first.body.runId]);
    const before = await counted();
    expect((await submit(triggerId, { ...fields, name: visitor() })).status).toBe(403);
    expect((await submit(triggerId, { ...fields, extra: '1' })).status).toBe(403);
    expect(await counted()).toEqual({ runs: before.runs, refusals: before.refusals + 2 });
    expect(await runsOf(fields.name)).toHaveLength(1);
  });

  test('of submissions that arrive together with one token, one starts a run', async () => {
    const triggerId = await registered();
    const svc_token = await tokenOf(triggerId);
    const names = Array.from({ length: 8 }, () => visitor());
    const answers = await Promise.all([...names, ...names].map((name) => submit(triggerId, { name, svc_token })));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(14);
    expect((await Promise.all(names.map(runsOf))).flat()).toHaveLength(1);
  });

  test('a token expires after an hour, except for the submission that used it', async () => {
    const triggerId = await registered();
    const used = { name: visitor(), svc_token: await tokenOf(triggerId) };
    const unused = await tokenOf(triggerId);
    const first = await submit(triggerId, used);
    world.clock.advance(HOUR_MS);
    expect((await submit(triggerId, { name: visitor(), svc_token: unused })).status).toBe(403);
    expect((await submit(triggerId, used)).body).toEqual({ ...first.body, repeated: true });
    world.clock.advance(24 * HOUR_MS);
    expect((await submit(triggerId, used)).status).toBe(403);
    expect(await runsOf(used.name)).toHaveLength(1);
  });

  test('a clock of the machine that is set gives no token a second run', async () => {
    const triggerId = await registered();
    const DAY_MS = 24 * HOUR_MS;
    world.clock.set(2 * DAY_MS);
    const early = { name: visitor(), svc_token: await tokenOf(triggerId) };
    world.clock.set(-2 * DAY_MS);
    const late = { name: visitor(), svc_token: await tokenOf(triggerId) };
    for (const fields of [early, late]) expect((await submit(triggerId, fields)).status).toBe(202);
    // The host does not know the submissions any more.
    world.clock.advance(DAY_MS + HOUR_MS);
    expect((await submit(triggerId, early)).status).toBe(403);
    world.clock.set(-2 * DAY_MS);
    expect((await submit(triggerId, late)).status).toBe(403);
    world.clock.set(2 * DAY_MS);
    expect([await runsOf(early.name), await runsOf(late.name)].map(({ length }) => length)).toEqual([1, 1]);
  });

  test('a token of a host whose clock was ahead when it started is refused by the next one', async () => {
    const store = () => sqliteStore(join(folder, 'ahead.db'));
    const page = (host: TriggerHost['host'], path: string, init: RequestInit) =>
      host.fetch(new Request(`${HOST}/host/example/forms/${path}`, { headers: { origin: PAGE }, ...init }), {
        address: '192.0.2.1',
      });
    const now = world.clock.now();
    const ahead = await triggerHost({ store: store(), clock: manualClock(now + 48 * HOUR_MS) });
    const { triggerId } = await ahead.register(FORM);
    const { token } = await (await page(ahead.host, `${triggerId}/token`, {})).json();
    await ahead.host.stop(0);
    const next = await triggerHost({ store: store(), clock: manualClock(now) });
    try {
      const body = new URLSearchParams({ name: visitor(), svc_token: token });
      expect((await page(next.host, triggerId, { method: 'POST', body })).status).toBe(403);
      expect(await next.runs()).toHaveLength(0);
    } finally {
      await next.host.stop(0);
    }
  });

  test('a token of another form, an altered one, none and two are refused', async () => {
    const [triggerId, other] = [await registered(), await registered()];
    const token = await tokenOf(triggerId);
    const before = await counted();
    const wrong = [
      await tokenOf(other),
      `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
      '',
      'x'.repeat(5000),
    ];
    for (const svc_token of wrong) expect((await submit(triggerId, { name: visitor(), svc_token })).status).toBe(403);
    expect((await submit(triggerId, { name: visitor() })).status).toBe(403);
    const body = `name=x&svc_token=${token}&svc_token=${token}`;
    const headers = { origin: PAGE, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await fetched(triggerId, { method: 'POST', headers, body })).status).toBe(403);
    expect(await counted()).toEqual({ runs: before.runs, refusals: before.refusals + 6 });
  });

  test('a message that waits while the trigger is paused keeps its answer, and starts its run afterwards', async () => {
    const triggerId = await registered();
    const path = `/host/example/triggers/${triggerId}`;
    await world.call('owner', 'POST', `${path}/pause`);
    const fields = { name: visitor(), svc_token: await tokenOf(triggerId) };
    expect((await submit(triggerId, fields)).body.outcome).toBe('retrying');
    await world.call('owner', 'POST', `${path}/resume`);
    await vi.waitFor(
      async () => {
        world.clock.advance(1000);
        expect(await runsOf(fields.name)).toHaveLength(1);
      },
      { timeout: 60_000, interval: 5 },
    );
    expect((await submit(triggerId, fields)).body).toMatchObject({ outcome: 'delivered', repeated: true });
    expect((await submit(triggerId, { ...fields, name: visitor() })).status).toBe(403);
  });
});

describe('a hostile submission', () => {
  test.each<[string, number, RequestInit]>([
    ['in JSON', 415, { body: '{}', headers: { 'content-type': 'application/json' } }],
    ['without a media type', 415, { body: new Uint8Array([1]) }],
    [
      'that is compressed',
      415,
      { body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-encoding': 'gzip' } },
    ],
    ['that is too large', 413, { body: new URLSearchParams({ name: 'x'.repeat(11_000) }) }],
    ['with too many fields', 400, { body: new URLSearchParams('a=1&'.repeat(300)) }],
    ['in broken multipart', 400, { body: '--x', headers: { 'content-type': 'multipart/form-data; boundary=y' } }],
  ])('%s is refused with %d and starts nothing', async (_name, expected, init) => {
    const triggerId = await registered();
    const before = await counted();
    const headers = { ...init.headers, origin: PAGE };
    expect((await fetched(triggerId, { method: 'POST', ...init, headers })).status).toBe(expected);
    expect(await counted()).toEqual({ runs: before.runs, refusals: before.refusals + 1 });
  });

  test('a file is refused by its own reason', async () => {
    const triggerId = await registered();
    const form = new FormData();
    form.append('svc_token', await tokenOf(triggerId));
    form.append('upload', new File(['x'], 'x.txt'));
    const { status, body } = await fetched(triggerId, { method: 'POST', headers: { origin: PAGE }, body: form });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('without files')]);
  });

  test('to a trigger of another source, or to none, is not found', async () => {
    const webhook = (await world.register()).triggerId;
    const form = await registered();
    for (const triggerId of [webhook, 'trg_unknown', '%2e%2e', 'x'.repeat(300)]) {
      expect((await fetched(`${triggerId}/token`, { headers: { origin: PAGE } })).status).toBe(404);
      expect((await submit(triggerId, { name: 'x' })).status).toBe(404);
    }
    expect((await world.send(form, { order: 1 })).status).toBe(404);
  });

  test('the rates of an address and of a form are limited', async () => {
    const triggers = { perClient: { limit: 5, windowSeconds: 60 }, perTrigger: { limit: 2, windowSeconds: 60 } };
    const narrow = await triggerHost({ store: sqliteStore(join(folder, 'narrow.db')), triggers });
    try {
      const { triggerId } = await narrow.register(FORM);
      const send = async (path: string, init: RequestInit, address: string) =>
        narrow.host.fetch(new Request(`${HOST}/host/example/forms/${path}`, init), { address });
      const headers = { origin: PAGE };
      const statuses = [];
      for (let n = 0; n < 3; n++) {
        const address = `192.0.2.${n}`;
        const { token } = await (await send(`${triggerId}/token`, { headers }, address)).json();
        const body = new URLSearchParams({ name: `n${n}`, svc_token: token });
        statuses.push((await send(triggerId, { method: 'POST', headers, body }, address)).status);
      }
      expect(statuses).toEqual([202, 202, 429]);
      const tokens = [];
      for (let n = 0; n < 6; n++) tokens.push((await send(`${triggerId}/token`, { headers }, '192.0.2.9')).status);
      expect(tokens).toEqual([200, 200, 200, 200, 200, 429]);
    } finally {
      await narrow.host.stop(0);
    }
  });
});
