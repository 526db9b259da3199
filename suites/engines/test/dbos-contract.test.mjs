// `engineContract` on DBOS, with the workflows that the engine of steps is tested with.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startPostgres, workspace } from './workspace.mjs';

const server = await startPostgres();
after(() => server.stop());
const { load } = await workspace('dbos-contract');
const { engineContract } = await load('@svc/host-kit/testing/engine');
const { dbosEngine } = await load('@svc/engine-dbos');
const { CONTRACT_OF_STEPS } = await load('./contract-of-steps.ts');

const { open, workflows } = CONTRACT_OF_STEPS;
const onDbos = (opened) => async (means) =>
  dbosEngine({ engine: await opened(means), databaseUrl: server.url, clock: means.clock });

describe('the engine of steps on DBOS', () => {
  engineContract({
    ...{ test, assert, open: onDbos(open), close: (engine) => engine.close(), patienceMs: 60_000 },
    workflows: { ...workflows, change: { ...workflows.change, open: onDbos(workflows.change.open) } },
  });
});
