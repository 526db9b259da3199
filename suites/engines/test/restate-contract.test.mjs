// `engineContract` on Restate, with the workflows that the engine of steps is tested with.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startRestate } from './restate-server.mjs';
import { workspace } from './workspace.mjs';

const server = await startRestate();
after(() => server.stop());
const { load } = await workspace('restate-contract');
const { engineContract } = await load('@svc/host-kit/testing/engine');
const { restateEngine } = await load('@svc/engine-restate');
const { CONTRACT_OF_STEPS } = await load('./contract-of-steps.ts');

const { open, workflows } = CONTRACT_OF_STEPS;
const { ingressUrl, adminUrl } = server;
const onRestate = (opened) => async (means) =>
  restateEngine({ engine: await opened(means), ingressUrl, adminUrl, port: 0, clock: means.clock });

describe('the engine of steps on Restate', () => {
  engineContract({
    ...{ test, assert, open: onRestate(open), close: (engine) => engine.close(), patienceMs: 60_000 },
    workflows: { ...workflows, change: { ...workflows.change, open: onRestate(workflows.change.open) } },
  });
});
