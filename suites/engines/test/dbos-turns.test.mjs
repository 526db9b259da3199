// DBOS knows the turns and nodes of a run, and no value of it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startPostgres, workspace } from './workspace.mjs';

const server = await startPostgres();
const { load } = await workspace('dbos-turns');
const { openHost } = await load('./opened-host.mjs');
const { dbosEngine } = await load('@svc/engine-dbos');
const { StepFailure, stepsEngine, workflow } = await load('@svc/host-kit/engine/steps');
const { systemClock } = await load('@svc/host-kit');
const { DBOSClient } = await load('@dbos-inc/dbos-sdk');
const { z } = await load('zod');
const { default: pg } = await load('pg');

const VALUE = 'a-value-of-the-run-alone';
const gate = Promise.withResolvers();
const inGate = Promise.withResolvers();
const inputs = z.record(z.string(), z.json());
const workflows = [
  workflow({
    id: 'branches',
    inputs,
    async run({ value }, { step }) {
      const branch = async (name) => {
        await step(`${name}-1`, () => value);
        return step(`${name}-2`, () => value);
      };
      const [left] = await Promise.all([branch('left'), branch('right')]);
      return { left };
    },
  }),
  workflow({
    id: 'refuses',
    inputs,
    run: ({ value }, { step }) =>
      step('refuses', () => {
        throw new StepFailure('acme.refused', `Refused ${value}.`);
      }),
  }),
  workflow({
    id: 'breaks',
    inputs,
    run: ({ value }, { step }) =>
      step(
        'breaks',
        () => {
          throw new Error(`Broken by ${value}.`);
        },
        { retry: { maxAttempts: 2, delayMs: 0 } },
      ),
  }),
  workflow({
    id: 'asks',
    inputs,
    async run({ value }, { step, ask }) {
      await step('before', () => value);
      const data = { artifactId: 'a', artifactType: 'text', title: `${value}?`, actions: ['accept', 'reject'] };
      const { decision } = await ask('review', { kind: 'approval', data });
      return { decision };
    },
  }),
  workflow({
    id: 'rests',
    inputs,
    run: (_inputs, { sleep }) => sleep('rest', 3_600_000).then(() => ({})),
  }),
  workflow({
    id: 'waits',
    inputs,
    async run(_inputs, { step }) {
      await step('gate', async () => {
        inGate.resolve();
        await gate.promise;
      });
      await step('never', () => 'started');
      return {};
    },
  }),
];

let host;
let client;
before(async () => {
  host = await openHost({ databaseUrl: server.url, workflows });
  client = await DBOSClient.create({ systemDatabaseUrl: server.url });
});
after(async () => {
  await client?.destroy();
  await server.stop();
});

/** The turns of a run, oldest first, with their steps. */
async function turnsOf(runId) {
  const turns = await client.listWorkflows({ attributes: { run: runId } });
  return Promise.all(
    turns.map(async ({ workflowID, workflowName, status, output, attributes }) => ({
      ...{ workflowID, workflowName, status, output, attributes },
      steps: (await client.listWorkflowSteps(workflowID)).map(({ name, output: end }) => [name, end]),
    })),
  );
}

test('a run is a workflow of DBOS, and each node is a step of it', async () => {
  const runId = await host.start('branches', { value: VALUE });
  await host.comesTo(runId, 'completed');
  const [turn, ...others] = await turnsOf(runId);
  assert.deepEqual(others, []);
  const { steps, ...about } = turn;
  assert.deepEqual(about, {
    workflowID: `${runId}:0:0`,
    workflowName: 'svc.turn',
    status: 'SUCCESS',
    output: { status: 'completed' },
    attributes: { run: runId, workflow: 'branches', epoch: 0 },
  });
  const nodes = ['left-1', 'left-2', 'right-1', 'right-2'].map((name) => [name, { status: 'completed' }]);
  assert.deepEqual(steps.sort(), nodes);
});

test('a turn that ends with a question says so, and the next turn goes on in another workflow', async () => {
  const runId = await host.start('asks', { value: VALUE });
  await host.comesTo(runId, 'waiting-approval');
  const { status } = await host.call(`/v1/runs/${runId}/interrupts/review`, { resumeValue: { action: 'accept' } });
  assert.equal(status, 200);
  await host.comesTo(runId, 'completed');
  const turns = (await turnsOf(runId)).map(({ status, output, steps }) => ({ status, output, steps }));
  assert.deepEqual(turns, [
    {
      ...{ status: 'SUCCESS', output: { left: 'waiting' } },
      steps: [
        ['before', { status: 'completed' }],
        ['review', { left: 'waiting' }],
      ],
    },
    { status: 'SUCCESS', output: { status: 'completed' }, steps: [['review', { status: 'completed' }]] },
  ]);
});

/** The ends of the turns of a run, with those of their nodes. */
const endsOf = async (runId) => (await turnsOf(runId)).map(({ status, output, steps }) => [status, output, steps]);

/** Waits until a run is in the step of its workflow that rests. */
function rests(runId) {
  return until('the rest', async () => {
    const { body } = await host.call(`/v1/runs/${runId}/events/poll?timeout=1`);
    return body.events.some(({ type }) => type === 'node.started');
  });
}

async function until(wanted, isSo) {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail(`${wanted} did not come within 60 s`);
}

const left = (why) => ['SUCCESS', { left: why }, [['rest', { left: why }]]];

test('a turn that the host pauses or cancels ends, and its node with it', async () => {
  const runId = await host.start('rests');
  await rests(runId);
  assert.equal((await host.call(`/v1/runs/${runId}:pause`, {})).status, 202);
  await host.comesTo(runId, 'paused');
  await comesTo(runId, [left('paused')]);
  assert.equal((await host.call(`/v1/runs/${runId}:resume`, {})).status, 202);
  // Without a turn under way, the host cancels the run alone.
  await until('the second turn', async () => (await turnsOf(runId)).length === 2);
  assert.equal((await host.call(`/v1/runs/${runId}/cancel`, {})).status, 200);
  await host.comesTo(runId, 'cancelled');
  // The node goes on in the second turn, which does not start it anew.
  await comesTo(runId, [left('paused'), ['SUCCESS', { left: 'cancelled' }, []]]);
});

/** DBOS stores the end of a turn that was told to leave a moment after the host has told it. */
async function comesTo(runId, ends) {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    if (JSON.stringify(await endsOf(runId)) === JSON.stringify(ends)) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.deepEqual(await endsOf(runId), ends);
}

test('a fork is a run with turns of its own, which repeats no step of its source', async () => {
  const source = await host.start('branches', { value: VALUE });
  await host.comesTo(source, 'completed');
  const nodes = (await host.call(`/v1/runs/${source}/events/poll?timeout=1`)).body.events;
  const fromSeq = nodes.findIndex(({ type }) => type === 'node.completed') + 1;
  const { status, body } = await host.call(`/v1/runs/${source}:fork`, { mode: 'branch', fromSeq });
  assert.equal(status, 201);
  await host.comesTo(body.runId, 'completed');
  const [[end, , steps], ...others] = await endsOf(body.runId);
  assert.deepEqual({ end, steps: steps.length, others }, { end: 'SUCCESS', steps: 3, others: [] });
});

test('DBOS stores the codes of failures, and each attempt', async () => {
  const refused = await host.start('refuses', { value: VALUE });
  await host.comesTo(refused, 'failed');
  const broken = await host.start('breaks', { value: VALUE });
  await host.comesTo(broken, 'failed');
  const ends = async (runId) => (await turnsOf(runId)).map(({ output, steps }) => ({ output, steps }));
  const failed = (code) => ({ status: 'failed', code });
  assert.deepEqual(await ends(refused), [
    { output: failed('acme.refused'), steps: [['refuses', failed('acme.refused')]] },
  ]);
  assert.deepEqual(await ends(broken), [
    {
      output: failed('internal_error'),
      steps: [
        ['breaks', { status: 'retried' }],
        ['breaks', failed('internal_error')],
      ],
    },
  ]);
});

test('no value of a run is in a table of DBOS', async () => {
  const database = new pg.Client(server.url);
  await database.connect();
  const rowsOf = async (schema) => {
    const { rows } = await database.query('SELECT tablename FROM pg_tables WHERE schemaname = $1', [schema]);
    const texts = [];
    for (const { tablename } of rows) {
      const found = await database.query(`SELECT each::text AS text FROM "${schema}"."${tablename}" AS each`);
      texts.push(...found.rows.map(({ text }) => text));
    }
    return texts;
  };
  const { rows } = await database.query('SELECT current_schema() AS name');
  const [ofDbos, ofHost] = [await rowsOf('dbos'), await rowsOf(rows[0].name)];
  await database.end();
  const withValue = (texts) => texts.filter((text) => text.includes(VALUE));
  assert.deepEqual({ rows: ofDbos.length > 10, values: withValue(ofDbos) }, { rows: true, values: [] });
  // The search finds values where they are.
  assert.notDeepEqual(withValue(ofHost), []);
});

test('a turn that an operator cancels in DBOS starts no further node, and its run fails', async () => {
  const runId = await host.start('waits');
  await inGate.promise;
  await client.cancelWorkflow(`${runId}:0:0`);
  gate.resolve();
  const { error } = await host.comesTo(runId, 'failed');
  assert.equal(error.code, 'turn_cancelled');
  const { body } = await host.call(`/v1/runs/${runId}/events/poll?timeout=1`);
  const nodes = body.events.filter(({ type }) => type.startsWith('node.')).map(({ type, nodeId }) => [type, nodeId]);
  assert.deepEqual(nodes, [
    ['node.started', 'gate'],
    ['node.completed', 'gate'],
  ]);
});

test('a turn that an operator forks in DBOS ends at once, because only the host decides who drives a run', async () => {
  const runId = await host.start('branches', { value: VALUE });
  await host.comesTo(runId, 'completed');
  const before = (await host.call(`/v1/runs/${runId}/events/poll?timeout=1`)).body.events.length;
  const forked = await client.forkWorkflow(`${runId}:0:0`, 0, { newWorkflowID: `${runId}:forked` });
  // DBOS looks for it once a second.
  const found = () => client.getWorkflow(`${runId}:forked`);
  await until('the end of the fork', async () => (await found())?.status === 'SUCCESS');
  assert.deepEqual((await found()).output, { left: 'gone' });
  const { body } = await host.call(`/v1/runs/${runId}/events/poll?timeout=1`);
  assert.equal(body.events.length, before);
  assert.ok(forked);
});

test('a process has one engine on DBOS', async () => {
  const another = () => dbosEngine({ engine: stepsEngine({ workflows }), databaseUrl: server.url });
  await assert.rejects(another(), /dbosEngine: this process runs DBOS already\. Close the former engine/);
  await host.stop();
  await host.engine.close();
  await (await another()).close();
});

test('an engine that cannot be opened leaves the process to the next one', async () => {
  const engine = stepsEngine({ workflows });
  await assert.rejects(dbosEngine({ engine, databaseUrl: 'postgres://svc@127.0.0.1:1/postgres' }));
  await (await dbosEngine({ engine, databaseUrl: server.url })).close();
});

test('ended turns are removed after turnDays', async () => {
  const engine = stepsEngine({ workflows });
  const ended = () => client.listWorkflows({ workflowName: 'svc.turn' });
  assert.notDeepEqual(await ended(), []);
  const openedIn = async (days) => {
    const clock = { ...systemClock, now: () => Date.now() + days * 86_400_000 };
    // Its close waits for the removal that it has begun.
    await (await dbosEngine({ engine, databaseUrl: server.url, turnDays: 3, clock })).close();
  };
  await openedIn(2);
  assert.notDeepEqual(await ended(), []);
  await openedIn(4);
  assert.deepEqual(await ended(), []);
});
