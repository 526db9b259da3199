import { get } from 'node:http';
import { json } from 'node:stream/consumers';
import { covers } from '@svc/tools/covers';
import { afterEach, expect, test } from 'vitest';
import { type AcmeHost, type AcmeProcess, KEY, startAcme, startAcmeProcess } from './acme-host.ts';
import { eventually } from './booted-host.ts';

let host: AcmeHost | AcmeProcess;
afterEach(() => host.stop());

/** Opens a stream, and collects the ids of its events. `ended` says whether the stream ended or was cut off. */
function read(path: string, lastEventId?: string) {
  const ids: string[] = [];
  let rest = '';
  const ended = new Promise<string>((resolve) => {
    const headers = {
      authorization: `Bearer ${KEY}`,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    };
    const request = get(host.url() + path, { headers }, (response) => {
      response.setEncoding('utf8').on('data', (text: string) => {
        const blocks = (rest + text).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) ids.push(...(/^id: (\d+)$/m.exec(block)?.slice(1) ?? []));
      });
      response.on('end', () => resolve('ended')).on('error', () => resolve('cut'));
    });
    request.on('error', () => resolve('cut'));
  });
  return { ids, ended };
}

/** Sends a long poll. `sent` resolves when the request is written to its connection. */
function poll(path: string) {
  const request = get(host.url() + path, { agent: false, headers: { authorization: `Bearer ${KEY}` } });
  const sent = new Promise((resolve) => request.once('finish', resolve));
  const answered = new Promise<{ status: number | undefined; body: Record<string, unknown> }>((resolve, reject) => {
    request.once('error', reject).once('response', async (response) => {
      const body = await json(response).catch(reject);
      resolve({ status: response.statusCode, body: Object(body) });
    });
  });
  return { sent, answered };
}

/** Starts a run that lasts `ms`, and returns the path of its events. */
async function delayed(ms: number): Promise<string> {
  const created = await host.call('/v1/runs', { body: { workflowId: 'delay', inputs: { ms } } });
  expect(created.status).toBe(201);
  return created.body.eventsUrl;
}

test(`${covers('events.stream.resume')} shows each event once across a kill -9 of the host`, async () => {
  const acme = await startAcme({});
  host = acme;
  const { runId, events, first } = await acme.killAfter(async () => {
    const created = await host.call('/v1/runs', { body: { workflowId: 'approval' } });
    const { runId, eventsUrl: events } = created.body;
    const first = read(`${events}?streamMode=debug`);
    await eventually(async () => (await host.call(`/v1/runs/${runId}`)).body.status === 'waiting-approval');
    await eventually(() => first.ids.length >= 2);
    return { runId, events, first };
  });
  expect(await first.ended).toBe('cut');
  const second = read(`${events}?streamMode=debug`, first.ids.at(-1));
  await host.call(`/v1/runs/${runId}/interrupts/approval`, { body: { resumeValue: { action: 'accept' } } });
  expect(await second.ended).toBe('ended');
  const log = await host.call(`${events}/poll`);
  const sequences = log.body.events.map(({ sequence }: { sequence: number }) => String(sequence));
  expect([...first.ids, ...second.ids]).toEqual(sequences);
});

test.each([
  ['1', '/v1/runs'],
  ['2', '/runs'],
])(
  `${covers('events.stream.ended')} answers 204 to a reader that has the last event, major %s`,
  async (major, runs) => {
    host = await startAcme({});
    const created = await host.call(runs, { major, body: { workflowId: 'echo', inputs: {} } });
    const events = `${runs}/${encodeURIComponent(created.body.runId)}/events`;
    const log = await host.call(`${events}/poll?timeout=20`, { major });
    await eventually(
      async () => (await host.call(events.replace('/events', ''), { major })).body.status === 'completed',
    );
    const last = (await host.call(`${events}/poll`, { major })).body.events.at(-1).sequence;
    const resumed = async (after: number, query = '') => {
      const headers = { 'last-event-id': String(after), accept: 'text/event-stream' };
      const response = await fetch(`${host.url()}${events}${query}`, {
        headers: { ...headers, authorization: `Bearer ${KEY}`, 'svc-version': major },
      });
      return [
        response.status,
        (await response.text()).match(/^event: .*/gm) ?? [],
        response.headers.get('svc-version'),
      ];
    };
    const version = expect.stringMatching(`^${major}\\.`);
    expect(log.status).toBe(200);
    for (const query of ['', '?streamMode=values', '?streamMode=debug', '?bufferMs=50', '?streamMode=messages']) {
      expect(await resumed(last, query)).toEqual([204, [], version]);
      expect(await resumed(last + 7, query)).toEqual([204, [], version]);
    }
    expect(await resumed(last - 1)).toEqual([200, ['event: run.completed'], version]);
    // No later event is a message, so a reader of messages would reconnect for ever.
    expect(await resumed(0, '?streamMode=messages')).toEqual([204, [], version]);
  },
);

test('answers 200 to a reader that has every event of a run that goes on', async () => {
  host = await startAcme({});
  const events = await delayed(60_000);
  const headers = { authorization: `Bearer ${KEY}`, 'last-event-id': '1000' };
  const response = await fetch(host.url() + events, { headers });
  expect(response.status).toBe(200);
  await response.body?.cancel();
});

test('answers 429 to a reader beyond streams.places of the configuration', async () => {
  host = await startAcme({}, { streams: { places: { perRun: 1 } } });
  const events = await delayed(60_000);
  const first = read(events);
  await eventually(() => first.ids.length > 0);
  expect((await host.call(events)).status).toBe(429);
});

test('ends streams and answers polls when the host stops', async () => {
  const stopped = await startAcmeProcess({});
  host = stopped;
  const events = await delayed(60_000);
  const polls = Array.from({ length: 10 }, () => poll(`${events}/poll?lastSequence=1&timeout=60`));
  // A host accepts connections in their order, so the polls have arrived before the streams that are opened after them.
  await Promise.all(polls.map(({ sent }) => sent));
  const streams = Array.from({ length: 10 }, () => read(events));
  await eventually(() => streams.every(({ ids }) => ids.length === 1));
  // Exit code 0: the stop ended within its limit. A connection that the host had to cut would not end with an answer.
  expect(await stopped.end('SIGTERM')).toBe(0);
  for (const { ended } of streams) expect(await ended).toBe('ended');
  for (const { status, body } of await Promise.all(polls.map(({ answered }) => answered))) {
    expect([status, body.events, body.isComplete]).toEqual([200, [], false]);
  }
});
