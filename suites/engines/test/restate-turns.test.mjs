// Restate knows the turns and nodes of a run, and no value of it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startRestate } from './restate-server.mjs';
import { startPostgres, workspace } from './workspace.mjs';

const database = await startPostgres();
const server = await startRestate();
const { load } = await workspace('restate-turns');
const { openHost } = await load('./opened-host.mjs');
const { restateEngine } = await load('@svc/engine-restate');
const { StepFailure, stepsEngine, workflow } = await load('@svc/host-kit/engine/steps');
const { z } = await load('zod');

const VALUE = 'a-value-of-the-run-alone';
/** The gates of the runs that wait in one, by the input `gate`. */
const gates = new Map();
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
    async run({ gate }, { step }) {
      await step('gate', async () => {
        const { entered, opened } = gates.get(gate);
        entered.resolve();
        await opened.promise;
      });
      await step('next', () => 'started');
      return {};
    },
  }),
];

const { ingressUrl, adminUrl } = server;
let host;
before(async () => {
  const restate = { ingressUrl, adminUrl, port: 0, identityKeys: [server.identityKey] };
  host = await openHost({ databaseUrl: database.url, workflows, restate });
});
after(async () => {
  await server.stop();
  await database.stop();
});

/** The invocations of a run, oldest first, with their steps. */
async function turnsOf(runId) {
  const rows = await server.query(
    `SELECT id, target, idempotency_key, status, completion_result, completion_failure FROM sys_invocation WHERE starts_with(idempotency_key, '${runId}:') ORDER BY created_at`,
  );
  return Promise.all(
    rows.map(async ({ id, target, idempotency_key: key, status, completion_result, completion_failure }) => ({
      ...{ id, target, key, ended: completion_failure ?? completion_result ?? status },
      ...(await journalOf(id)),
    })),
  );
}

/** The names of the steps with their ends, and the end of the invocation. */
async function journalOf(id) {
  const rows = await server.query(
    `SELECT entry_type, name, entry_json FROM sys_journal WHERE id = '${id}' ORDER BY index`,
  );
  const json = ({ entry_json: text }) => JSON.parse(text);
  const ends = new Map();
  for (const row of rows.filter(({ entry_type: type }) => type === 'Notification: Run')) {
    const { Completion } = json(row).Notification;
    ends.set(Completion.Run.completion_id, decoded(Completion.Run.result.Success));
  }
  const steps = rows
    .filter(({ entry_type: type }) => type === 'Command: Run')
    .map((row) => [row.name, ends.get(json(row).Command.Run.completion_id)]);
  const output = rows.find(({ entry_type: type }) => type === 'Command: Output');
  return { steps, output: output && decoded(json(output).Command.Output.result.Success) };
}

const decoded = (bytes) => bytes && JSON.parse(Buffer.from(bytes).toString());

/** The ends of the turns of a run, with those of their nodes. */
const endsOf = async (runId) => (await turnsOf(runId)).map(({ ended, output, steps }) => [ended, output, steps]);

/** Waits until a run is in the step of its workflow that rests. */
function rests(runId) {
  return host.records(runId, 'node.started', 1);
}

async function until(wanted, isSo) {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail(`${wanted} did not come within 60 s`);
}

/** Restate stores the end of a turn that was told to leave a moment after the host has told it. */
async function comesTo(runId, ends) {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    if (JSON.stringify(await endsOf(runId)) === JSON.stringify(ends)) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.deepEqual(await endsOf(runId), ends);
}

/** Starts a run that waits in its step `gate`. `open` lets it go on. */
async function inGate(name) {
  const [entered, opened] = [Promise.withResolvers(), Promise.withResolvers()];
  gates.set(name, { entered, opened });
  const runId = await host.start('waits', { gate: name });
  await entered.promise;
  const [{ id }] = await turnsOf(runId);
  return { runId, id, open: () => opened.resolve() };
}

/** Tells Restate to do something with an invocation, as its operators do. */
async function operate(id, action) {
  const { ok, status } = await fetch(`${adminUrl}/invocations/${id}/${action}`, { method: 'PATCH' });
  assert.ok(ok, `${action} was answered with ${status}`);
}

const nodesOf = async (runId) => {
  const { body } = await host.call(`/v1/runs/${runId}/events/poll?timeout=1`);
  return body.events.filter(({ type }) => type.startsWith('node.')).map(({ type, nodeId }) => [type, nodeId]);
};

const COMPLETED = { status: 'completed' };

test('a run is an invocation of Restate, and each node is a step of it', async () => {
  const runId = await host.start('branches', { value: VALUE });
  await host.comesTo(runId, 'completed');
  const [{ id, key, steps, ...turn }, ...others] = await turnsOf(runId);
  assert.deepEqual(others, []);
  assert.match(id, /^inv_/);
  assert.match(key, new RegExp(`^${runId}:0:0:[0-9a-f]{32}$`));
  assert.deepEqual(turn, {
    target: `svc.turns.127.0.0.1-${host.engine.port}/turn`,
    ended: 'success',
    output: COMPLETED,
  });
  const nodes = ['left-1', 'left-2', 'right-1', 'right-2'].map((name) => [name, COMPLETED]);
  assert.deepEqual(steps.sort(), nodes);
});

test('a turn that ends with a question says so, and the next turn goes on in another invocation', async () => {
  const runId = await host.start('asks', { value: VALUE });
  await host.comesTo(runId, 'waiting-approval');
  const { status } = await host.call(`/v1/runs/${runId}/interrupts/review`, { resumeValue: { action: 'accept' } });
  assert.equal(status, 200);
  await host.comesTo(runId, 'completed');
  await comesTo(runId, [
    [
      ...['success', { left: 'waiting' }],
      [
        ['before', COMPLETED],
        ['review', { left: 'waiting' }],
      ],
    ],
    ['success', COMPLETED, [['review', COMPLETED]]],
  ]);
});

const left = (why) => ['success', { left: why }, [['rest', { left: why }]]];

test('a turn that the host pauses or cancels ends, and its node with it', async () => {
  const runId = await host.start('rests');
  await rests(runId);
  assert.equal((await host.call(`/v1/runs/${runId}:pause`, {})).status, 202);
  await host.comesTo(runId, 'paused');
  await comesTo(runId, [left('paused')]);
  assert.equal((await host.call(`/v1/runs/${runId}:resume`, {})).status, 202);
  await until('the second turn', async () => (await turnsOf(runId)).length === 2);
  assert.equal((await host.call(`/v1/runs/${runId}/cancel`, {})).status, 200);
  await host.comesTo(runId, 'cancelled');
  // The node goes on in the second turn, which does not start it anew.
  await comesTo(runId, [left('paused'), ['success', { left: 'cancelled' }, []]]);
});

test('a fork is a run with turns of its own, which repeats no step of its source', async () => {
  const source = await host.start('branches', { value: VALUE });
  await host.comesTo(source, 'completed');
  const { events } = (await host.call(`/v1/runs/${source}/events/poll?timeout=1`)).body;
  const fromSeq = events.findIndex(({ type }) => type === 'node.completed') + 1;
  const { status, body } = await host.call(`/v1/runs/${source}:fork`, { mode: 'branch', fromSeq });
  assert.equal(status, 201);
  await host.comesTo(body.runId, 'completed');
  const [[end, , steps], ...others] = await endsOf(body.runId);
  assert.deepEqual({ end, steps: steps.length, others }, { end: 'success', steps: 3, others: [] });
});

test('Restate stores the codes of failures, and each attempt', async () => {
  const refused = await host.start('refuses', { value: VALUE });
  await host.comesTo(refused, 'failed');
  const broken = await host.start('breaks', { value: VALUE });
  await host.comesTo(broken, 'failed');
  const failed = (code) => ({ status: 'failed', code });
  await comesTo(refused, [['success', failed('acme.refused'), [['refuses', failed('acme.refused')]]]]);
  const attempts = [
    ['breaks', { status: 'retried' }],
    ['breaks', failed('internal_error')],
  ];
  await comesTo(broken, [['success', failed('internal_error'), attempts]]);
});

test('no value of a run is in a file of Restate', async () => {
  const runId = await host.start('branches', { value: VALUE });
  await host.comesTo(runId, 'completed');
  const files = readdirSync(join(server.folder, 'data'), { recursive: true, withFileTypes: true });
  const texts = files.filter((file) => file.isFile()).map((file) => readFileSync(join(file.parentPath, file.name)));
  const holds = (text) => texts.some((bytes) => bytes.includes(text));
  // The search finds texts where they are.
  assert.deepEqual({ run: holds(runId), value: holds(VALUE) }, { run: true, value: false });
});

for (const action of ['cancel', 'kill']) {
  test(`a turn that an operator stops in Restate (${action}) starts no further node, and its run fails`, async () => {
    const { runId, id, open } = await inGate(action);
    await operate(id, action);
    await until('the stop', async () => {
      const rows = await server.query(
        `SELECT entry_type FROM sys_journal WHERE id = '${id}' AND entry_type = 'Notification: Signal'`,
      );
      return rows.length > 0 || (await turnsOf(runId))[0].ended === '[409] killed';
    });
    open();
    const { error } = await host.comesTo(runId, 'failed');
    assert.equal(error.code, 'turn_cancelled');
    assert.deepEqual(await nodesOf(runId), [
      ['node.started', 'gate'],
      ['node.completed', 'gate'],
    ]);
  });
}

test('an invocation of which the host knows no turn ends at once, because only the host decides when a run is driven', async () => {
  const runId = await host.start('branches', { value: VALUE });
  await host.comesTo(runId, 'completed');
  const before = await nodesOf(runId);
  const [{ key, target }] = await turnsOf(runId);
  const body = JSON.stringify({ turn: key, run: runId, workflow: 'branches', epoch: 0 });
  const headers = { 'content-type': 'application/json' };
  for (const sent of [body, '{}', 'null', '7']) {
    const answer = await fetch(`${ingressUrl}/${target}`, { method: 'POST', headers, body: sent });
    assert.deepEqual(await answer.json(), { left: 'gone' });
  }
  assert.deepEqual(await nodesOf(runId), before);
});

test('the handler refuses a call that the cluster did not sign', async () => {
  const session = connect(`http://127.0.0.1:${host.engine.port}`);
  const [path] = [`/invoke/svc.turns.127.0.0.1-${host.engine.port}/turn`];
  const call = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/json' });
  call.end('{}');
  const [headers] = await new Promise((resolve, reject) => {
    call.once('response', (...answer) => resolve(answer));
    call.once('error', reject);
  });
  assert.equal(headers[':status'], 401);
  session.destroy();
});

test('an engine that cannot be opened says why, and frees its port', async () => {
  const opened = (options) =>
    restateEngine({ engine: stepsEngine({ workflows }), ingressUrl, adminUrl, port: 0, ...options });
  const nothing = 'http://127.0.0.1:1';
  const taken = host.engine.port;
  const WRONG = [
    [
      { ingressUrl: nothing },
      /^restateEngine: the ingress of Restate does not answer at http:\/\/127\.0\.0\.1:1 \(.*\)\. /,
    ],
    [
      { adminUrl: nothing },
      /^restateEngine: the admin API of Restate does not answer at http:\/\/127\.0\.0\.1:1 \(.*\)\. /,
    ],
    [{ adminUrl: ingressUrl }, /^restateEngine: Restate did not accept the handler at http:\S+ \(status \d+.*\)\. /],
    [
      { handlerUrl: nothing },
      /^restateEngine: Restate did not accept the handler at http:\/\/127\.0\.0\.1:1 \(status .*\)\. /,
    ],
    [{ port: taken }, /^restateEngine: cannot listen on 127\.0\.0\.1 port \d+ \(.*EADDRINUSE.*\)\. /],
  ];
  for (const [options, message] of WRONG) await assert.rejects(opened(options), { message });
  const engine = await opened({});
  await engine.close();
  await (await opened({ port: engine.port })).close();
});

test('a host whose deployment an operator removed registers it again', async () => {
  const { deployments } = await (await fetch(`${adminUrl}/deployments`)).json();
  for (const { id } of deployments) {
    await fetch(`${adminUrl}/deployments/${id}?force=true`, { method: 'DELETE' });
  }
  const runId = await host.start('branches', { value: VALUE });
  await host.comesTo(runId, 'completed');
  const warnings = host.logged.filter(({ event }) => event === 'restate.unreachable');
  assert.equal(warnings.length, 1);
  assert.match(warnings[0].error, /does not take turns \(status 404: .*\)$/);
});

test('a closed engine leaves no service in Restate', async () => {
  const services = async () => (await (await fetch(`${adminUrl}/services`)).json()).services.map(({ name }) => name);
  assert.deepEqual(await services(), [`svc.turns.127.0.0.1-${host.engine.port}`]);
  await host.stop();
  await host.engine.close();
  assert.deepEqual(await services(), []);
});
