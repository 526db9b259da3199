import { writeFileSync } from 'node:fs';
import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, type Receiver, type RunningHost, scratch, startReceiver } from './booted-host.ts';
import { BASE, bearer, seconds, sender, signer } from './callers.ts';
import { bootInProcess } from './host-in-process.ts';

const KEY = 'operator_brought_key_of_enough_characters';
const PEOPLE = 'https://people.example.com';
const people = await signer('people');
const folder = scratch();
let host: RunningHost;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  writeFileSync(folder.path('people.json'), JSON.stringify(people.jwks));
  host = await bootInProcess(folder.path('config.json'), {
    listen: { port: 0 },
    baseUrl: BASE,
    store: `sqlite:${folder.path('svc.db')}`,
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    apiKeys: [
      {
        id: 'key_1',
        key: KEY,
        tenant: 'acme',
        workspaces: ['acme-prod'],
        principal: 'p_1',
        scopes: ['runs:*', 'approvals:respond', 'webhooks:manage'],
      },
    ],
    oidc: {
      issuers: [{ issuer: PEOPLE, audience: 'svc', jwksFile: folder.path('people.json'), pseudonymous: true }],
    },
    streams: { places: { perRun: 2 }, keepAliveMs: 200, judgeEveryMs: 200, stallMs: 1000 },
    egress: { allowLoopback: [receiver.port] },
  });
});
afterAll(async () => {
  await host?.end();
  await receiver.close();
  folder.remove();
});

const call = sender(() => host.url);
const MAJORS = ['1', '2'] as const;
type Major = (typeof MAJORS)[number];
const headersOf = (major: Major, others: object = {}) => ({ ...bearer(KEY), 'svc-version': major, ...others });
/** The path of a run, from its id in major 1. */
const pathOf = (major: Major, runId: string) => (major === '1' ? `/v1/runs/${runId}` : `/runs/acme~2F${runId}`);

async function start(workflowId: string, inputs: object = {}, authorization = bearer(KEY)): Promise<string> {
  const { status, body } = await call('/v1/runs', { headers: authorization, body: { workflowId, inputs } });
  expect([status, body]).toEqual([201, expect.anything()]);
  return body.runId;
}

async function until(runId: string, status: string): Promise<void> {
  await eventually(async () => (await call(pathOf('1', runId), { headers: bearer(KEY) })).body.status === status);
}

const accept = (runId: string) =>
  call(`${pathOf('1', runId)}/interrupts/approval`, {
    headers: bearer(KEY),
    body: { resumeValue: { action: 'accept' } },
  });

interface Message {
  readonly id: string | undefined;
  readonly event: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the data of a message, which each test asserts itself
  readonly data: any;
}

/** A stream that is being read. */
class Reading {
  readonly messages: Message[] = [];
  readonly comments: string[] = [];
  readonly headers: IncomingHttpHeaders;
  readonly status: number | undefined;
  readonly ended: Promise<void>;
  #rest = '';
  readonly #response: IncomingMessage;

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.headers = response.headers;
    this.status = response.statusCode;
    response.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    this.ended = new Promise((resolve) => response.on('close', () => resolve()));
  }

  leave(): void {
    this.#response.destroy();
  }

  get text(): string {
    return this.#rest;
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) {
      if (block.startsWith(':')) this.comments.push(block);
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
      const data = field('data');
      if (data !== undefined) this.messages.push({ id: field('id'), event: field('event'), data: JSON.parse(data) });
    }
  }
}

function open(major: Major, runId: string, query = '', headers: object = {}): Promise<Reading> {
  const url = `${host.url}${pathOf(major, runId)}/events${query}`;
  return new Promise((resolve, reject) => {
    get(url, { headers: headersOf(major, headers), agent: false }, (response) => resolve(new Reading(response))).on(
      'error',
      reject,
    );
  });
}

/** The messages of a stream that ends by itself. */
async function whole(major: Major, runId: string, query = '') {
  const stream = await open(major, runId, query);
  await stream.ended;
  return stream.messages;
}

const ids = (messages: readonly Message[]) => messages.map(({ id }) => Number(id));
const names = (messages: readonly Message[]) => messages.map(({ event }) => event);

/** Reads the log of a run. */
async function logOf(major: Major, runId: string) {
  const { body } = await call(`${pathOf(major, runId)}/events/poll`, { headers: headersOf(major) });
  return body.events;
}

describe.each(MAJORS)('in major %s', (major) => {
  test(
    covers(
      'events.stream.headers',
      'events.stream.frames',
      'events.stream.vocabulary',
      'events.shape.engine-version-integer',
    ),
    async () => {
      const runId = await start('approval');
      await until(runId, 'waiting-approval');
      expect((await accept(runId)).status).toBe(200);
      const stream = await open(major, runId, '?streamMode=debug');
      expect([stream.status, stream.headers]).toEqual([
        200,
        expect.objectContaining({
          'content-type': 'text/event-stream',
          'cache-control': 'no-store',
          'svc-version': major === '1' ? '1.1' : '2.0',
        }),
      ]);
      await stream.ended;
      const log = await logOf(major, runId);
      expect(stream.messages.map(({ data }) => data)).toEqual(log);
      expect(ids(stream.messages)).toEqual(log.map((_: unknown, index: number) => index));
      for (const { id, event, data } of stream.messages) {
        expect([id, event]).toEqual([String(data.sequence), data.type]);
        expect(data.runId).toBe(major === '1' ? runId : `acme/${runId}`);
        expect(Number.isInteger(data.engineVersion) && data.engineVersion >= 0).toBe(true);
      }
      // A type whose names differ.
      expect(names(stream.messages)).toContain(major === '1' ? 'approval.received' : 'approval.received');
    },
  );

  test(covers('events.stream.modes', 'events.stream.mixed-names', 'events.stream.values'), async () => {
    const runId = await start('approval');
    await until(runId, 'waiting-approval');
    await accept(runId);
    const debug = await whole(major, runId, '?streamMode=debug');
    const updates = await whole(major, runId);
    expect(updates).toEqual(await whole(major, runId, '?streamMode=updates'));
    expect(names(updates)).toEqual(
      names(debug).filter((name) => UPDATES.some((pattern) => pattern.test(String(name)))),
    );
    expect(updates.length).toBeLessThan(debug.length);
    const mixed = await whole(major, runId, '?streamMode=updates,debug');
    expect(mixed.map(({ id, data }) => [id, data])).toEqual(debug.map(({ id, data }) => [id, data]));
    const ofUpdates = new Set(ids(updates));
    expect(names(mixed)).toEqual(ids(debug).map((id) => (ofUpdates.has(id) ? 'updates' : 'debug')));
    expect(await whole(major, runId, '?streamMode=messages')).toEqual([]);

    const values = await whole(major, runId, '?streamMode=values');
    expect(new Set(names(values))).toEqual(new Set(['state.snapshot']));
    expect(values.map(({ data }) => data.status)).toEqual(expect.arrayContaining(['waiting-approval', 'completed']));
    expect([values.at(-1)?.id, values.at(-1)?.data.status]).toEqual([debug.at(-1)?.id, 'completed']);
    for (const id of ids(updates)) expect(ids(values)).toContain(id);
  });

  test.each(['', 'all', 'values,updates', 'updates,', 'Updates', ' updates'])(
    `${covers('events.stream.unsupported-mode')} %j`,
    async (mode) => {
      for (const accept of ['text/event-stream', 'application/json', 'text/html', '*/*']) {
        const headers = headersOf(major, { accept });
        const path = `${pathOf(major, 'run_00000000000000000000')}/events?streamMode=${encodeURIComponent(mode)}`;
        expect(await call(path, { headers })).toMatchObject({
          status: 400,
          body: {
            error: 'unsupported_stream_mode',
            details: { supported: ['values', 'updates', 'messages', 'debug'] },
          },
        });
      }
    },
  );

  describe(covers('events.stream.batches'), () => {
    test('a suspended node and the end of the run send the held events at once', async () => {
      const runId = await start('delay', { ms: 300 });
      const began = performance.now();
      const stream = await open(major, runId, '?bufferMs=5000&streamMode=debug');
      await stream.ended;
      // The buffer alone would have held the events for longer.
      expect(performance.now() - began).toBeLessThan(4900);
      expect(new Set(names(stream.messages))).toEqual(new Set(['batch']));
      const sequences = stream.messages.map(({ data }) => data.map((event: { sequence: number }) => event.sequence));
      expect(sequences.flat()).toEqual((await logOf(major, runId)).map((_: unknown, index: number) => index));
      expect(ids(stream.messages)).toEqual(sequences.map((batch) => Math.max(...batch)));

      const waiting = await start('approval');
      const suspended = await open(major, waiting, '?bufferMs=5000&streamMode=debug');
      await eventually(() => suspended.messages.length > 0);
      expect(JSON.stringify(suspended.messages)).toContain('node.suspended');
      suspended.leave();
    });

    test('other events wait for bufferMs, and no longer', async () => {
      const runId = await start('delay', { ms: 60_000 });
      const stream = await open(major, runId, '?bufferMs=300&streamMode=debug');
      await eventually(() => stream.messages.length > 0);
      expect(stream.messages[0]).toMatchObject({ event: 'batch', data: [{ type: 'run.started' }, ...DELAYED] });
      stream.leave();
    });
  });

  test(covers('events.stream.ends-with-run', 'events.stream.keep-alive'), async () => {
    const runId = await start('approval');
    const stream = await open(major, runId);
    await eventually(() => stream.comments.length >= 3);
    await until(runId, 'waiting-approval');
    const failing = await start('fail');
    await accept(runId);
    await stream.ended;
    expect(names(stream.messages).at(-1)).toBe('run.completed');
    expect(names(await whole(major, failing)).at(-1)).toBe('run.failed');
  });

  test(covers('events.poll.cursor', 'events.poll.body'), async () => {
    const runId = await start('echo');
    await until(runId, 'completed');
    const cursor = major === '1' ? 'lastSequence' : 'afterSequence';
    const poll = async (query: string) =>
      (await call(`${pathOf(major, runId)}/events/poll${query}`, { headers: headersOf(major) })).body;
    const page = await poll('');
    const sequences = ({ events }: { events: { sequence: number }[] }) => events.map(({ sequence }) => sequence);
    const all = sequences(page);
    expect(all).toEqual(all.map((_, index) => index));
    for (const [at, sequence] of all.entries())
      expect(sequences(await poll(`?${cursor}=${sequence}`))).toEqual(all.slice(at + 1));
    expect(sequences(await poll(`?${cursor}=900`))).toEqual([]);
    const last = all.at(-1);
    if (major === '1') expect(page).toMatchObject({ events: expect.any(Array), isComplete: true });
    else
      expect(page).toEqual({
        runId: `acme/${runId}`,
        events: expect.any(Array),
        lastSequence: last,
        status: 'completed',
        isTerminal: true,
      });
  });

  test(covers('events.poll.wait'), async () => {
    const runId = await start('approval');
    await until(runId, 'waiting-approval');
    const last = (await logOf(major, runId)).at(-1).sequence;
    const cursor = `${major === '1' ? 'lastSequence' : 'afterSequence'}=${last}`;
    const poll = (timeout: string) =>
      call(`${pathOf(major, runId)}/events/poll?${cursor}${timeout}`, { headers: headersOf(major) });
    for (const timeout of ['0', '61', '-1', 'x', '1.5', ''])
      expect((await poll(`&timeout=${timeout}`)).status).toBe(400);
    const began = performance.now();
    expect((await poll('&timeout=1')).body.events).toEqual([]);
    expect(performance.now() - began).toBeGreaterThanOrEqual(950);
    // Without a timeout it waits for longer than this, so that only the answer to the approval can end it.
    const waiting = poll('');
    await eventually(async () => (await accept(runId)).status === 200);
    expect((await waiting).body.events.length).toBeGreaterThan(0);
  });

  test(covers('events.stream.places'), async () => {
    const runId = await start('delay', { ms: 60_000 });
    const streams = [await open(major, runId), await open(major, runId)];
    const cursor = major === '1' ? 'lastSequence' : 'afterSequence';
    for (const path of ['/events', `/events/poll?${cursor}=900`]) {
      const beyond = await call(`${pathOf(major, runId)}${path}`, { headers: headersOf(major) });
      expect([beyond.status, beyond.body.error]).toEqual([429, 'rate_limited']);
      expect(beyond.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    const [first, second] = streams;
    const heard = second?.comments.length ?? 0;
    await eventually(() => (second?.comments.length ?? 0) > heard);
    first?.leave();
    await eventually(async () => {
      const again = await open(major, runId);
      again.leave();
      return again.status === 200;
    });
    second?.leave();
  });
});

/** Types that the mode `updates` shows. */
const UPDATES = [/^run\./, /^node\.(suspended|completed|failed)$/, /^interrupt\./, /^approval\./];
const DELAYED = [{ type: 'node.started' }];

test(`${covers('events.stream.json-instead')} in major 1`, async () => {
  const runId = await start('echo');
  await until(runId, 'completed');
  for (const [accept, type] of [
    ['application/json', /^application\/json/],
    ['text/html, application/json;q=0.9', /^application\/json/],
    ['text/event-stream;q=0, application/json', /^application\/json/],
    ['text/event-stream', /^text\/event-stream$/],
    ['*/*', /^text\/event-stream$/],
    ['application/json, text/event-stream', /^text\/event-stream$/],
  ] as const) {
    const answer = await call(`${pathOf('1', runId)}/events`, { headers: headersOf('1', { accept }) });
    expect([accept, answer.status, answer.headers.get('content-type')]).toEqual([
      accept,
      200,
      expect.stringMatching(type),
    ]);
    if (answer.body !== undefined) expect(answer.body.events).toEqual(await logOf('1', runId));
  }
});

test(`${covers('events.stream.credential', 'runs.owner.personal-data-mapped')} An expired token ends its stream`, async () => {
  const claims = { iss: PEOPLE, sub: 'ada@example.com', aud: 'svc', svc_tenant: 'acme', svc_workspaces: ['acme-prod'] };
  const token = await people.sign({ ...claims, scope: 'runs:create runs:read', exp: seconds() + 4 });
  const runId = await start('delay', { ms: 60_000 }, bearer(token));
  const stream = await open('1', runId, '', bearer(token));
  expect(stream.status).toBe(200);
  const other = await open('1', runId);
  await stream.ended;
  expect(seconds()).toBeLessThan(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).exp + 30);
  expect(names(stream.messages)).not.toContain('run.completed');
  // The stream of another caller goes on.
  const heard = other.comments.length;
  await eventually(() => other.comments.length > heard);
  other.leave();
  const { body: run } = await call(pathOf('1', runId), { headers: bearer(KEY) });
  expect(run.owner.principal).toMatch(/^[A-Za-z0-9_-]{16,128}$/);
  expect(JSON.stringify([run, await logOf('1', runId)])).not.toMatch(/\bada\b/);
});

test(`${covers('events.stream.slow-reader')} A reader that takes no data is given up, and the run goes on`, async () => {
  const runId = await start('burst', { events: 100_000 });
  const stalled = await new Promise<IncomingMessage>((resolve, reject) => {
    const url = `${host.url}${pathOf('1', runId)}/events?streamMode=debug`;
    get(url, { headers: bearer(KEY), agent: false }, resolve).on('error', reject);
  });
  stalled.pause();
  await until(runId, 'completed');
  // Its place is free again although it never left: two others are admitted, which is the limit.
  await eventually(async () => {
    const [one, two] = [await open('1', runId), await open('1', runId)];
    for (const each of [one, two]) each.leave();
    return one.status === 200 && two.status === 200;
  });
  stalled.destroy();
});

test(`${covers('events.discovery.transports')} Both documents name what is served`, async () => {
  for (const major of MAJORS) {
    const { body } = await call('/.well-known/svc', { headers: { 'svc-version': major } });
    expect(body.eventLog.transports ?? body.supportedTransports).toEqual(expect.arrayContaining(['sse']));
    const runId = await start('echo');
    expect((await open(major, runId)).status).toBe(200);
    expect((await logOf(major, runId)).length).toBeGreaterThan(0);
  }
});

test(`${covers('events.shape.engine-version-integer')} in deliveries of both majors`, async () => {
  for (const major of MAJORS) {
    const secret = major === '1' ? {} : { secret: 's'.repeat(32) };
    const scope = major === '1' ? { tenantId: 'acme-prod' } : {};
    const body = { url: receiver.url, events: ['run.completed'], ...scope, ...secret };
    const path = major === '1' ? '/v1/webhooks' : '/webhooks';
    const registered = await call(path, { headers: headersOf(major), body });
    expect(registered.status).toBe(201);
    receiver.trust(registered.body.secret ?? secret.secret);
    const before = receiver.bodies.length;
    await start('echo');
    await eventually(() => receiver.bodies.length > before);
    const { event } = JSON.parse(String(receiver.bodies.at(-1)));
    expect(Number.isInteger(event.engineVersion)).toBe(true);
    const scoped = major === '1' ? '?tenantId=acme-prod' : '';
    const gone = `${path}/${encodeURIComponent(registered.body.webhookId)}${scoped}`;
    expect((await call(gone, { method: 'DELETE', headers: headersOf(major) })).status).toBe(204);
  }
});
