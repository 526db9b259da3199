import type { Execution, Run, RunOutcome, WorkflowEngine } from '@svc/host-kit';
import { type EngineContractOptions, engineContract } from '@svc/host-kit/testing/engine';
import { expect, test } from 'vitest';
import { CONTRACT_OF_STEPS } from './contract-of-steps.ts';

/** Collects the tests of the contract for an engine, by title. */
function checksOf(options: Pick<EngineContractOptions, 'open'> & Partial<EngineContractOptions>) {
  const checks = new Map<string, () => Promise<void>>();
  engineContract({
    ...CONTRACT_OF_STEPS,
    assert: { deepEqual: (actual, expected) => expect(actual).toEqual(expected) },
    patienceMs: 1000,
    ...options,
    test: (title, body) => checks.set(title, body),
  });
  return checks;
}

/** The engine of steps with one fault. */
type Break = (engine: WorkflowEngine) => Partial<WorkflowEngine>;

/** Changes the execution that the engine of steps gets. */
const withExecution =
  (change: (execution: Execution, run: Run) => Execution): Break =>
  (engine) => ({ execute: (run, execution) => engine.execute(run, change(execution, run)) });

/** Changes the outcome of the engine of steps. */
const withOutcome =
  (change: (outcome: RunOutcome, run: Run, execution: Execution) => RunOutcome | Promise<RunOutcome>): Break =>
  (engine) => ({ execute: async (run, execution) => change(await engine.execute(run, execution), run, execution) });

/** Makes names that differ from attempt to attempt. */
let made = 0;

const noHistory = async function* () {};

const isUnknown = (answer: ReturnType<NonNullable<WorkflowEngine['accepts']>> | undefined) =>
  answer === false || (typeof answer === 'object' && answer.field === 'workflowId');

const KILLS = 'goes on after a kill before and after every append, and repeats no node that has ended';
const REJECTED = 'leaves a run when an append rejects, recorded or not, and goes on in the next turn';
const COMPLETES = 'completes a run with its outputs, node by node, and returns the outcome once';
const DECLARES = 'declares versions, forks and questions in their form, and has a workflow here for each';
const REFUSES = 'refuses an unknown workflow, and throws for no inputs';

const COMPENSATES =
  'compensates the nodes of a failed run in reverse, also when it is killed before and after every call';
const CHILD_ONCE = 'starts a child once when it is killed before and after every call';
const CHILD_WAIT = 'starts a child, leaves the run to wait for it, and completes with its outcome';

const BROKEN: readonly (readonly [fault: string, caughtBy: string, broken: Break])[] = [
  [
    'starts from the beginning in every turn',
    KILLS,
    withExecution((execution) => ({ ...execution, history: noHistory })),
  ],
  ['keeps its journal in memory', KILLS, journalInMemory],
  ['believes that a rejected append was recorded', REJECTED, withExecution(believing)],
  ['tries a rejected append again at once, without end', REJECTED, withExecution(insisting)],
  [
    'never ends the nodes that it starts',
    COMPLETES,
    withExecution((execution) => ({
      ...execution,
      append: (...events) => execution.append(...events.filter(({ type }) => type !== 'node.completed')),
    })),
  ],
  [
    'completes a run before its work has ended',
    COMPLETES,
    (engine) => ({
      async execute(run, execution) {
        if (run.workflowId !== 'nodes') return engine.execute(run, execution);
        void engine.execute(run, execution).catch(() => {});
        return { status: 'completed', outputs: { third: 3 } };
      },
    }),
  ],
  ['completes a run that failed', 'fails a run with the code and the node of its failure', withOutcome(completing)],
  [
    'throws the failures of nodes',
    'fails a run with the code and the node of its failure',
    withOutcome((outcome) => {
      if (outcome.status === 'failed') throw new Error('thrown');
      return outcome;
    }),
  ],
  ['shares values between runs', 'drives many runs side by side, each with its own values', shared],
  [
    'returns outputs of another kind than they are',
    'returns values as JSON has them',
    withOutcome((outcome) =>
      outcome.status === 'completed'
        ? { ...outcome, outputs: JSON.parse(JSON.stringify(outcome.outputs), nulls) }
        : outcome,
    ),
  ],
  ['never returns for an oversized value', 'ends a run with an oversized value', withOutcome(stuckWhenLong)],
  [
    'completes runs of workflows that it does not have',
    'fails a run whose workflow is gone',
    (engine) => ({
      execute: (run, execution) =>
        isUnknown(engine.accepts?.(run.workflowId, run.inputs))
          ? Promise.resolve({ status: 'completed', outputs: {} })
          : engine.execute(run, execution),
    }),
  ],
  [
    'does not return after a cancel',
    'returns when a run is cancelled, which ends within five seconds',
    (engine) => ({ execute: (run, execution) => engine.execute(run, execution).catch(() => new Promise(() => {})) }),
  ],
  [
    'does not return when its host stops',
    'returns when the host stops, and goes on in the next process',
    (engine) => ({
      async execute(run, execution) {
        const outcome = await engine.execute(run, execution).catch(() => undefined);
        return outcome ?? new Promise(() => {});
      },
    }),
  ],
  [
    'goes on when another host drives the run',
    'returns when another host takes a resting run over, and records nothing more',
    (engine) => ({ execute: (run, execution) => engine.execute(run, execution).catch(() => new Promise(() => {})) }),
  ],
  [
    'rests anew after a restart',
    'rests until its time, and no longer after a restart',
    withExecution((execution) => ({ ...execution, until: () => restedFrom(execution, 60_000) })),
  ],
  [
    'does not rest',
    'rests until its time, and no longer after a restart',
    withExecution((execution) => ({ ...execution, until: async () => {} })),
  ],
  [
    'counts the time of a pause',
    'is paused while it rests, and rests for the time that is left after the resume',
    withExecution((execution) => ({ ...execution, history: () => withoutPauses(execution.history()) })),
  ],
  [
    'asks again under another key',
    'asks a question of the kind approval once, returns, and goes on with the answer',
    withExecution((execution) => ({
      ...execution,
      interrupt: (request) => execution.interrupt({ ...request, key: `key-${made++}` }),
    })),
  ],
  [
    'does not wait for the answer',
    'asks a question of the kind approval once, returns, and goes on with the answer',
    withExecution((execution) => ({
      ...execution,
      interrupt: async (request) =>
        execution.interrupt(request).catch(() => ({ resumeValue: null, isTimeout: false, isOverride: false })),
    })),
  ],
  [
    'executes the nodes of a replay',
    'replays runs with the outcomes of their sources, without a divergence',
    withExecution(({ replayed: _replayed, ...execution }) => execution),
  ],
  [
    'forgets the history of a branch',
    'branches from every event of a run, and keeps its history',
    withExecution((execution, run) => (run.fork === undefined ? execution : { ...execution, history: noHistory })),
  ],
  [
    'makes an artifact in every attempt',
    'makes an artifact once when it is killed before and after every call',
    withExecution((execution) => ({ ...execution, history: () => withoutArtifacts(execution.history()) })),
  ],
  [
    'gives an effect another identity in each attempt',
    'makes an effect under one id when it is killed before and after every call',
    withExecution((execution) => ({
      ...execution,
      effect: (request, perform) => execution.effect({ ...request, identity: { key: `order-${made++}` } }, perform),
    })),
  ],
  [
    'repeats a failed append although another host drives the run',
    'records nothing more when another host takes a run over before any call, and returns',
    withExecution(insisting),
  ],
  [
    'does not return after a cancel between nodes',
    'returns when a run is cancelled before any call, and the run ends within five seconds',
    (engine) => ({
      async execute(run, execution) {
        const outcome = await engine.execute(run, execution).catch(() => undefined);
        return execution.signal.aborted || outcome === undefined ? new Promise(() => {}) : outcome;
      },
    }),
  ],
  [
    'forgets its nodes after a pause',
    'returns when a run is paused before any call, and goes on after the resume',
    withExecution((execution) => ({ ...execution, history: noHistory })),
  ],
  ['starts a child under another node in every turn', CHILD_ONCE, withExecution(withManyChildren)],
  [
    'does not wait for its child',
    CHILD_WAIT,
    withExecution((execution) => ({
      ...execution,
      awaitChild: async (nodeId) =>
        execution.awaitChild(nodeId).catch(() => ({ status: 'completed', outputs: {} }) as const),
    })),
  ],
  [
    'asks for its child again and again while it waits',
    CHILD_WAIT,
    withExecution((execution) => ({
      ...execution,
      awaitChild: (nodeId) => execution.awaitChild(nodeId).catch(() => execution.awaitChild(nodeId)),
    })),
  ],
  ['forgets that it began to compensate', COMPENSATES, withExecution(withoutRequests)],
  ['compensates nothing', COMPENSATES, withExecution(withoutCompensations)],
  [
    'tells of no compensation that it made',
    COMPENSATES,
    withExecution((execution) => without(execution, 'compensation.completed')),
  ],
  ['declares a question of which it has no workflow here', DECLARES, () => ({ interrupts: ['approval', 'custom'] })],
  ['has a version that is no whole number', DECLARES, () => ({ otherVersions: [1.5] })],
  ['refuses nothing', REFUSES, () => ({ accepts: () => true })],
  [
    'throws for inputs that it does not expect',
    REFUSES,
    (engine) => ({
      accepts: (workflowId, inputs) =>
        JSON.stringify(inputs.timeoutMs)?.startsWith('"')
          ? JSON.parse('x')
          : (engine.accepts?.(workflowId, inputs) ?? false),
    }),
  ],
  [
    'describes workflows that it does not have',
    'describes its workflows alone',
    () => ({ describe: (workflowId) => ({ workflowId }) }),
  ],
  [
    'does not notice that a workflow has changed',
    'fails a run that no longer fits its changed workflow',
    withOutcome(completing),
  ],
  [
    'hangs after a limit has ended the run',
    'leaves a run that exceeds its limit of node executions',
    (engine) => ({ execute: (run, execution) => engine.execute(run, execution).catch(() => new Promise(() => {})) }),
  ],
];

test.each(BROKEN)('an engine that %s fails: %s', async (_fault, caughtBy, broken) => {
  const breakEngine = (engine: WorkflowEngine): WorkflowEngine => ({ ...engine, ...broken(engine) });
  const { open, workflows } = CONTRACT_OF_STEPS;
  const change = workflows.change === 'none' ? undefined : workflows.change;
  if (change === undefined) throw new Error('The contract of steps has a changed workflow.');
  const checks = checksOf({
    open: async (means) => breakEngine(await open(means)),
    workflows: { ...workflows, change: { ...change, open: async (means) => breakEngine(await change.open(means)) } },
  });
  const check = checks.get(caughtBy);
  if (check === undefined) throw new Error(`The contract has no test ${caughtBy}.`);
  await expect(check()).rejects.toThrow();
});

test('each part of the contract catches a broken engine', () => {
  const caught = new Set(BROKEN.map(([, caughtBy]) => caughtBy));
  const titles = [...checksOf({ open: CONTRACT_OF_STEPS.open }).keys()];
  expect([...caught].filter((title) => !titles.includes(title))).toEqual([]);
  expect(caught.size).toBeGreaterThan(20);
});

test('refuses parts that do not have their form', () => {
  const { workflows } = CONTRACT_OF_STEPS;
  const { rest } = workflows;
  if (rest === 'none') throw new Error('The contract of steps has a rest.');
  const open = CONTRACT_OF_STEPS.open;
  expect(() => checksOf({ open, workflows: { ...workflows, nodes: { ...workflows.nodes, nodes: ['one'] } } })).toThrow(
    'workflows.nodes.nodes must name two or more nodes',
  );
  expect(() => checksOf({ open, workflows: { ...workflows, rest: { ...rest, ms: 9 } } })).toThrow('workflows.rest.ms');
});

function journalInMemory(engine: WorkflowEngine): Partial<WorkflowEngine> {
  const logs = new Map<string, Awaited<ReturnType<Execution['append']>>[number][]>();
  return {
    execute(run, execution) {
      const log = logs.get(run.runId) ?? [];
      logs.set(run.runId, log);
      const append: Execution['append'] = async (...events) => {
        const recorded = await execution.append(...events);
        log.push(...recorded);
        return recorded;
      };
      return engine.execute(run, { ...execution, append, history: () => inMemory([...log]) });
    },
  };
}

async function* inMemory<T>(log: readonly T[]) {
  yield* log;
}

/** Does not record events of a type. */
function without(execution: Execution, omitted: string): Execution {
  return { ...execution, append: (...events) => execution.append(...events.filter(({ type }) => type !== omitted)) };
}

function withoutCompensations(execution: Execution): Execution {
  const isKept = (type: string, nodeId = '') => !type.startsWith('compensation.') && !nodeId.startsWith('compensate:');
  return {
    ...execution,
    append: (...events) => execution.append(...events.filter(({ type, nodeId }) => isKept(type, nodeId))),
  };
}

function withoutRequests(execution: Execution): Execution {
  return {
    ...execution,
    async *history() {
      for await (const event of execution.history()) if (event.type !== 'compensation.requested') yield event;
    },
  };
}

function withManyChildren(execution: Execution): Execution {
  const nodeId = `node-${made++}`;
  return {
    ...execution,
    startChild: (request) => execution.startChild({ ...request, nodeId }),
    awaitChild: () => execution.awaitChild(nodeId),
  };
}

function believing(execution: Execution): Execution {
  return { ...execution, append: (...events) => execution.append(...events).catch(() => new Promise(() => {})) };
}

function insisting(execution: Execution): Execution {
  const append: Execution['append'] = async (...events) => {
    for (;;) {
      try {
        return await execution.append(...events);
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  };
  return { ...execution, append };
}

function completing(outcome: RunOutcome): RunOutcome {
  return outcome.status === 'failed' ? { status: 'completed', outputs: {} } : outcome;
}

function shared(engine: WorkflowEngine): Partial<WorkflowEngine> {
  let first: RunOutcome | undefined;
  return {
    async execute(run, execution) {
      const outcome = await engine.execute(run, execution);
      first ??= outcome;
      return first;
    },
  };
}

function nulls(_name: string, value: unknown): unknown {
  return value === null ? 'null' : value;
}

function stuckWhenLong(outcome: RunOutcome): RunOutcome | Promise<RunOutcome> {
  return JSON.stringify(outcome).length > 100_000 ? new Promise(() => {}) : outcome;
}

async function restedFrom(execution: Execution, ms: number): Promise<void> {
  const started = await execution.append({ type: 'log.appended', payload: { level: 'info', message: 'rests' } });
  await execution.until((started[0]?.timestamp ?? 0) + ms);
}

async function* withoutPauses(history: ReturnType<Execution['history']>) {
  for await (const event of history) if (event.type !== 'run.paused' && event.type !== 'run.resumed') yield event;
}

async function* withoutArtifacts(history: ReturnType<Execution['history']>) {
  for await (const event of history) if (event.type !== 'artifact.created') yield event;
}
