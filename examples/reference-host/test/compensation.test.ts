import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcmeHost, OTHER_TENANT, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';
import { MAJORS, runDriver } from './run-driver.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({});
});
afterAll(() => host.stop());

const [, second] = MAJORS;
const driver = runDriver(() => host, second);
const compensation = (runId: string, key?: string) =>
  driver.call(driver.path(runId, '/compensation'), key === undefined ? {} : { key });

/** The lines that the compensations wrote to the log of a run. */
async function cancelled(runId: string) {
  const log = await driver.log(runId);
  return log.flatMap(({ type, payload }) => (type === 'log.appended' ? [payload.message] : []));
}

test(`a failed run undoes its steps in reverse, also across kill -9 in the middle: ${covers('operations.compensation.read', 'operations.compensation.reverse')}`, async () => {
  // The attempts to cancel the flight take six seconds together, in which the host is killed.
  const runId = await host.killAfter(async () => {
    const runId = await driver.start('trip', { nights: 2, isFull: true, failingRefunds: 4 });
    await eventually(async () => (await driver.types(runId)).includes('node.retried'));
    expect(await driver.read(runId)).toMatchObject({ status: 'running', compensationStatus: 'running' });
    return runId;
  });

  const run = await driver.until(runId, 'failed', 'completed');
  expect(run).toMatchObject({ error: { code: 'sample.hotel_full' }, compensationStatus: 'completed' });
  expect(await cancelled(runId)).toEqual(['Cancelled the small car.', 'Cancelled the seat 12A.']);
  const { status, body } = await compensation(runId);
  const at = expect.any(String);
  expect([status, body]).toEqual([
    200,
    {
      ...{ runId, status: 'completed', ordering: 'reverse-completion' },
      compensations: [
        { nodeId: 'car', state: 'completed', attempts: 1, at },
        { nodeId: 'flight', state: 'completed', attempts: 5, at },
      ],
    },
  ]);
});

test('a run without a failure has nothing to undo, and a cancelled one needs a person', async () => {
  const completed = await driver.start('trip', { nights: 1 });
  expect(await driver.until(completed, 'completed')).toMatchObject({ compensationStatus: 'none' });
  const runId = await driver.start('trip', { nights: 1, searchMs: 60_000 });
  await driver.until(runId, 'waiting-external');
  await driver.act(runId, '/cancel');
  expect(await driver.until(runId, 'cancelled')).toMatchObject({ compensationStatus: 'manual' });
  expect(await driver.types(runId)).toContain('compensation.manual-intervention-required');
  expect((await compensation(runId)).body).toMatchObject({ status: 'manual' });
});

test('the compensation of a run is read by callers that read the run, in major 2', async () => {
  const runId = await driver.start('echo');
  expect((await compensation(runId)).body).toMatchObject({ status: 'none', compensations: [] });
  expect((await compensation(runId, OTHER_TENANT)).status).toBe(403);
  expect((await compensation('acme/run_0000000000000000')).status).toBe(404);
  const [first] = MAJORS;
  const inMajor1 = await runDriver(() => host, first).call(`/runs/${runId.replace('acme/', '')}/compensation`);
  expect(inMajor1.status).toBe(404);
  const { body } = await host.call('/.well-known/svc', { major: '2' });
  expect(body.compensation).toMatchObject({ ordering: 'reverse-completion' });
});
