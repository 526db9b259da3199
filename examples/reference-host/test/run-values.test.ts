import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, KEY, startAcme } from './acme-host.ts';
import { MAJORS, runDriver } from './run-driver.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({});
});
afterAll(() => host.stop());

describe.each(MAJORS)('in $name', (spoken) => {
  const driver = runDriver(() => host, spoken);

  /** Reads the whole stream of an ended run, and returns its snapshots. */
  async function snapshots(runId: string, headers: Record<string, string> = {}) {
    const path = `${host.url()}${spoken.base}${driver.path(runId, '/events?streamMode=values')}`;
    const asked = { authorization: `Bearer ${KEY}`, accept: 'text/event-stream', 'svc-version': spoken.major };
    const text = await (await fetch(path, { headers: { ...asked, ...headers } })).text();
    return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
  }

  test(`a snapshot has the values of its run: ${covers('operations.runs.values')}`, async () => {
    const runId = await driver.start('count', { nodes: 2 });
    const run = await driver.until(runId, 'completed');
    expect(run.variables).toEqual({ nodes: 2, 'count-0': { index: 0 }, 'count-1': { index: 1 } });
    expect(run).not.toHaveProperty('metrics');
    if (spoken.major === '2') {
      // The closed snapshot of major 2 does not define it.
      expect(run).not.toHaveProperty('nodeStates');
      return;
    }
    expect(Object.keys(run.nodeStates)).toEqual(['count-0', 'count-1']);
    expect(run.nodeStates['count-1']).toEqual({
      status: 'completed',
      attempt: 0,
      typeId: 'sample.count',
      startedAt: expect.stringMatching(/Z$/),
      completedAt: expect.stringMatching(/Z$/),
    });
  });

  test(`the stream of values shows them as they change: ${covers('events.stream.values')}`, async () => {
    const runId = await driver.start('count', { nodes: 40 });
    const run = await driver.until(runId, 'completed');
    const shown = await snapshots(runId);
    expect(shown[0].variables).toEqual({ nodes: 40 });
    expect(shown.at(-1)).toEqual(run);
    const counts = shown.map(({ variables }) => Object.keys(variables).length);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(new Set(counts).size).toBe(41);
    const resumed = await snapshots(runId, { 'last-event-id': '40' });
    expect(resumed.at(-1)).toEqual(run);
    expect(resumed[0].variables).toEqual(shown.find(({ variables }) => 'count-19' in variables)?.variables);
  });

  test('a run that is read while it goes on has the values of that moment', async () => {
    const runId = await driver.start('delay', { ms: 60_000 });
    const before = await driver.until(runId, 'running');
    expect(before.variables).toEqual({ ms: 60_000 });
    await driver.act(runId, '/cancel');
    const after = await driver.until(runId, 'cancelled');
    expect(after.variables).toEqual({ ms: 60_000 });
    if (spoken.major === '1') expect(after.nodeStates.delay).toMatchObject({ status: 'cancelled' });
  });
});

test('a run in a list has no values', async () => {
  // Major 1 has no list.
  const driver = runDriver(() => host, MAJORS[1]);
  const runId = await driver.start('echo', { text: 'x' });
  await driver.until(runId, 'completed');
  const { runs } = (await driver.call('/runs?limit=100')).body;
  const listed = runs.find((run: { runId: string }) => run.runId === runId);
  expect(listed).toMatchObject({ status: 'completed' });
  expect(listed).not.toHaveProperty('variables');
});
