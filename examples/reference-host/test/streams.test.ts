import { get } from 'node:http';
import { covers } from '@svc/tools/covers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AcmeHost, KEY, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

let host: AcmeHost;

beforeEach(async () => {
  host = await startAcme({});
});
afterEach(() => host.stop());

/** A reader of a stream, which may be cut off. */
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

async function delayed(ms: number): Promise<string> {
  const created = await host.call('/v1/runs', { body: { workflowId: 'delay', inputs: { ms } } });
  expect(created.status).toBe(201);
  return created.body.eventsUrl;
}

test(`${covers('events.stream.resume')} Across a kill -9 of the host, each event is seen once`, async () => {
  const events = await delayed(2000);
  const first = read(`${events}?streamMode=debug`);
  await eventually(() => first.ids.length === 2);
  await host.end('SIGKILL');
  expect(await first.ended).toBe('cut');
  await host.reboot({});
  const second = read(`${events}?streamMode=debug`, first.ids.at(-1));
  expect(await second.ended).toBe('ended');
  const log = await host.call(`${events}/poll`);
  const sequences = log.body.events.map(({ sequence }: { sequence: number }) => String(sequence));
  expect([...first.ids, ...second.ids]).toEqual(sequences);
}, 30_000);

test('a host that is told to stop ends its streams and answers its polls, well within its grace', async () => {
  const events = await delayed(60_000);
  const polls = Array.from({ length: 10 }, () => host.call(`${events}/poll?lastSequence=1&timeout=60`));
  // What connects later is accepted later, so the polls have arrived when the streams have.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const streams = Array.from({ length: 10 }, () => read(events));
  await eventually(() => streams.every(({ ids }) => ids.length === 1));
  const from = performance.now();
  expect(await host.end('SIGTERM')).toBe(0);
  expect(performance.now() - from).toBeLessThan(6000);
  for (const { ended } of streams) expect(await ended).toBe('ended');
  for (const { status, body } of await Promise.all(polls)) {
    expect([status, body.events, body.isComplete]).toEqual([200, [], false]);
  }
}, 30_000);
