import { argv, stdout } from 'node:process';
import { setTimeout as after } from 'node:timers/promises';
import type { Run, WorkflowEngine } from '@svc/host-kit';
import { StepFailure, type Steps, stepsEngine, workflow } from '@svc/host-kit/engine/steps';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { z } from 'zod';
import { recordedHost } from '../host/recorded-host.ts';

// A host whose workflows forget to await: `forgetful-workflows.ts DATABASE`. It prints one line of JSON with the end of a run
// of each workflow, and what the host logged about it. Then a rejection comes that is of no run. A process of its own,
// because a rejection that nothing handles ends a process.
const [, , database = ''] = argv;

/** Resolves when the host has logged that something of the run failed, which nothing awaits. */
async function notAwaited({ runId }: Run): Promise<void> {
  const isLogged = () => host.logged.some(({ event, runId: of }) => event === 'run.error-not-awaited' && of === runId);
  while (!isLogged()) await after(1);
}

let rejectLate = (): void => {};

const workflows: Record<string, (steps: Steps, run: Run) => Promise<object>> = {
  async 'step awaited late'({ step }, run) {
    const first = step('first', broken);
    await step('second', () => notAwaited(run));
    await first;
    return {};
  },
  async 'step awaited late and caught'({ step }, run) {
    const first = step('first', broken);
    await step('second', () => notAwaited(run));
    return { caught: await first.catch(() => true) };
  },
  async 'step that nothing awaits'({ step }, run) {
    step('first', () => {
      throw new StepFailure('no_paper', 'The printer has no paper.');
    });
    await step('second', () => notAwaited(run));
    return {};
  },
  async 'function that nothing awaits'({ step }, run) {
    const print = async () => {
      await step('first', () => 'printed');
      throw new Error('the paper is on fire');
    };
    void print();
    await step('second', () => notAwaited(run));
    return {};
  },
  async 'error after the end'() {
    void new Promise((_resolve, reject) => {
      rejectLate = () => reject(new Error('too late'));
    }).then(() => {});
    return {};
  },
  async 'question that nothing awaits'({ ask, step }) {
    ask('review', { kind: 'approval', data: { title: 'Publish it?' } });
    await step('publish', () => 'published');
    return {};
  },
  async 'sleep that nothing awaits'({ sleep }) {
    sleep('rest', 60_000);
    return {};
  },
  async 'branch that lost a race'({ sleep, step }) {
    return { first: await Promise.race([sleep('rest', 60_000), step('work', () => 'done')]) };
  },
};

const engines: Record<string, WorkflowEngine['execute']> = {
  async 'append that nothing awaits'(_run, { append }) {
    append({ type: 'node.started', nodeId: 'one', payload: { nodeId: 'one', typeId: '' } });
    return { status: 'completed', outputs: {} };
  },
  async 'branch of a run that waits'(_run, { interrupt }) {
    const ask = (nodeId: string) => interrupt({ nodeId, key: 'ok', kind: 'approval', data: { title: 'Go on?' } });
    ask('one');
    await ask('two');
    return { status: 'completed', outputs: {} };
  },
  'throw before the first promise'() {
    throw new Error('thrown before the first promise');
  },
};

function broken(): never {
  throw new Error('the printer is on fire');
}

const steps = stepsEngine({
  workflows: Object.entries(workflows).map(([id, work]) =>
    workflow({ id, inputs: z.object({}), run: (_inputs, given, run) => work(given, run) }),
  ),
});
const engine: WorkflowEngine = {
  ...steps,
  accepts: () => true,
  execute: (run, execution) => (engines[run.workflowId] ?? steps.execute)(run, execution),
};
const host = await recordedHost({ store: sqliteStore(database), engine });
const runIds = new Map<string, string>();
for (const id of [...Object.keys(workflows), ...Object.keys(engines)]) runIds.set(id, await host.start(id));
const ends: Record<string, object> = {};
for (const [id, runId] of runIds) {
  const { status, error } = await host.comesTo(runId, 'completed', 'failed', 'waiting-approval');
  ends[id] = { status, ...(error && { code: error.code }) };
}
rejectLate();
await after(0);
for (const [id, runId] of runIds) {
  const logged = host.logged.filter((record) => record.runId === runId && String(record.event).startsWith('run.'));
  ends[id] = { ...ends[id], logged: logged.map(({ level, event, error }) => `${level} ${event}: ${error}`) };
}
await host.stop();
stdout.write(`${JSON.stringify(ends)}\n`);
void Promise.reject(new Error('of the application'));
