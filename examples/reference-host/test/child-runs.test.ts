import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcmeHost, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';
import { MAJORS, runDriver } from './run-driver.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({});
});
afterAll(() => host.stop());

const [, second] = MAJORS;
const driver = runDriver(() => host, second);

/** The children of a run, from the list of runs. */
async function childrenOf(runId: string) {
  const { body } = await driver.call('/runs?limit=100');
  return body.runs.filter(({ parentRunId }: { parentRunId?: string }) => parentRunId === runId);
}

test('a run and its child go on after kill -9, and the child is started once', async () => {
  const runId = await host.killAfter(async () => {
    const runId = await driver.start('trip', { nights: 3, searchMs: 3000 });
    await driver.until(runId, 'waiting-external');
    await eventually(async () =>
      (await childrenOf(runId)).some(({ status }: { status: string }) => status === 'running'),
    );
    return runId;
  });

  await driver.until(runId, 'completed', 'failed');
  const log = await driver.log(runId);
  expect(log.at(-1)?.payload.outputs).toEqual({ seat: '12A', room: 'room for 3' });
  expect(log.filter(({ type }) => type === 'node.started').map(({ nodeId }) => nodeId)).toEqual([
    'flight',
    'car',
    'hotel',
  ]);
  const children = await childrenOf(runId);
  expect(children).toMatchObject([{ workflowId: 'hotel', status: 'completed' }]);
  const childLog = await driver.log(children[0].runId);
  expect(childLog.filter(({ type }) => type === 'node.started').map(({ nodeId }) => nodeId)).toEqual([
    'search',
    'book',
  ]);
});

test('a run whose child fails fails with the code of the child', async () => {
  const runId = await driver.start('trip', { nights: 3, isFull: true });
  const { error } = await driver.until(runId, 'completed', 'failed');
  expect(error).toEqual({ code: 'sample.hotel_full', message: 'The hotel has no room.' });
});

test(`a cancelled run takes its child with it: ${covers('operations.children.cancelled')}`, async () => {
  const runId = await driver.start('trip', { nights: 3, searchMs: 60_000 });
  await driver.until(runId, 'waiting-external');
  expect((await driver.act(runId, '/cancel', { reason: 'no longer wanted' })).status).toBe(200);
  await eventually(async () => (await childrenOf(runId))[0]?.status === 'cancelled');
  const [child] = await childrenOf(runId);
  const last = (await driver.log(child.runId)).at(-1);
  expect(last).toMatchObject({ type: 'run.cancelled', payload: { reason: 'parent-cancelled', parentRunId: runId } });
});
