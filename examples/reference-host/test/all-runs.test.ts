import { get } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AcmeHost, DEV, KEY, OTHER_TENANT, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

const FEED = '/host/example/events';

let host: AcmeHost;
beforeEach(async () => {
  host = await startAcme({});
});
afterEach(() => host.stop());

/** Opens a stream of all runs, and collects `<runId> <type>` and the id of each event. */
function read(lastEventId?: string, key = KEY) {
  const seen: { readonly name: string; readonly id: string }[] = [];
  let rest = '';
  const headers = {
    authorization: `Bearer ${key}`,
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  };
  const ended = new Promise<string>((resolve) => {
    const request = get(host.url() + FEED, { headers }, (response) => {
      response.setEncoding('utf8').on('data', (text: string) => {
        const blocks = (rest + text).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) {
          const [, id = ''] = /^id: (.+)$/m.exec(block) ?? [];
          const [, data] = /^data: (.+)$/m.exec(block) ?? [];
          if (data === undefined) continue;
          const { runId, type } = JSON.parse(data);
          seen.push({ name: `${runId} ${type}`, id });
        }
      });
      response.on('end', () => resolve('ended')).on('error', () => resolve('cut'));
    });
    request.on('error', () => resolve('cut'));
  });
  return { seen, ended, names: () => seen.map(({ name }) => name) };
}

async function newRun(key = KEY): Promise<string> {
  const { status, body } = await host.call('/v1/runs', { key, body: { workflowId: 'echo', inputs: {} } });
  expect(status).toBe(201);
  return body.runId;
}

test('the stream of all runs shows each event of the runs of the caller once, across a kill -9 of the host', async () => {
  const { before, first, foreign } = await host.killAfter(async () => {
    const before = read();
    const first = await newRun();
    const foreign = [await newRun(DEV), await newRun(OTHER_TENANT)];
    await eventually(() => before.names().includes(`${first} run.completed`));
    return { before, first, foreign };
  });
  expect(await before.ended).toBe('cut');
  const second = await newRun();
  const after = read(before.seen.at(-1)?.id);
  await eventually(() => after.names().includes(`${second} run.completed`));
  const names = [...before.names(), ...after.names()];
  expect(new Set(names).size).toBe(names.length);
  for (const runId of [first, second])
    expect(names.filter((name) => name.startsWith(runId))).toEqual([
      `${runId} run.started`,
      ...['node.started', 'node.completed', 'run.completed'].map((type) => `${runId} ${type}`),
    ]);
  for (const runId of foreign) expect(names.join()).not.toContain(runId);
  const whole = read();
  await eventually(() => whole.seen.length >= names.length);
  expect(whole.names()).toEqual(names);
});

test('the stream of all runs is described, named in discovery, and needs the scope runs:read', async () => {
  for (const major of ['1', '2']) {
    const { body } = await host.call('/.well-known/svc', { major });
    expect(body.extensions['example.events']).toEqual({ path: FEED });
  }
  const { body } = await host.call('/host/example/openapi.json');
  expect(Object.keys(body.paths[FEED].get.responses['200'].content)).toEqual(['text/event-stream']);
  expect(body.paths[`${FEED}/poll`].get.operationId).toBe('pollEventsOfAllRuns');
  expect((await host.call(`${FEED}/poll?timeout=1`, { key: 'unknown' })).status).toBe(401);
});
