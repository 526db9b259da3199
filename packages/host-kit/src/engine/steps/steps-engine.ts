import type { Json, JsonObject } from '../../json.ts';
import { type OptionNames, requireKnown } from '../../known-options.ts';
import type { Clock } from '../../ports/clock.ts';
import { systemClock, yieldToLoop } from '../../ports/clock.ts';
import type { EngineRefusal, Execution, RunOutcome, VersionedEngine } from '../../ports/engine.ts';
import type { Run } from '../../ports/runs.ts';
import { unknownWorkflow, workflowGone } from '../../ports/workflow-functions.ts';
import { UnhandledRejections } from '../../unhandled-rejections.ts';
import { readJournal } from './journal.ts';
import { jsonSchemaOf, placeOf, type Schema, type SchemaIssue, validate } from './schema.ts';
import { failureOf, StepFailure } from './step-failure.ts';
import { type TurnMeans, TurnOfSteps } from './turn-of-steps.ts';
import { MISMATCH } from './visited-steps.ts';
import type { Workflow } from './workflow.ts';

/** The parts of an engine of steps. */
export interface StepsEngineOptions {
  /** The workflows that callers can start, each with an id of its own. */
  readonly workflows: readonly Workflow[];
  /** The version of the engine, a whole number. It is written to every run and event. Default: 1. */
  readonly version?: number;
  /**
   * Called for each attempt of a step that fails with another error than a `StepFailure`. Callers see such an error as
   * `internal_error`, without its message. Errors of the function are ignored. Default: the last one of a run is written to the log of the host.
   */
  readonly onError?: (error: unknown, failed: { readonly runId: string; readonly step: string }) => void;
  /** Default: `systemClock`. */
  readonly clock?: Pick<Clock, 'now'>;
}

/**
 * Makes an engine of workflows that are functions, without another server. The log of a run is its only record: the
 * result of each step is an event, and a run goes on after `kill -9` with the step that was under way.
 *
 * @throws {TypeError} for an unknown option, no workflow, and two workflows of one id
 * @example
 * const host = createHost({ engine: stepsEngine({ workflows: [publish] }), ...others });
 */
export function stepsEngine(options: StepsEngineOptions): VersionedEngine {
  requireKnown('stepsEngine', options, OPTIONS);
  const { version = 1, onError, clock = systemClock } = options;
  const workflows = byId(options.workflows);

  return {
    version,
    interrupts: ['approval', 'clarification', 'external-event'],
    forks: ['replay', 'branch'],
    compensation: 'reverse-completion',
    accepts(workflowId, inputs) {
      const found = workflows.get(workflowId);
      if (found === undefined) return unknownWorkflow([...workflows.keys()]);
      return refusalOf(found.inputs, inputs) ?? true;
    },
    describe(workflowId) {
      const found = workflows.get(workflowId);
      if (found === undefined) return undefined;
      const { title, inputs } = found;
      return { workflowId, ...(title !== undefined && { title }), inputSchema: jsonSchemaOf(inputs) };
    },
    async execute(run, execution) {
      const found = workflows.get(run.workflowId);
      if (found === undefined) return workflowGone(run);
      return execute(found, run, execution, { onError, clock });
    },
  };
}

const OPTIONS = {
  ...{ workflows: true, version: true, onError: true, clock: true },
} as const satisfies OptionNames<StepsEngineOptions>;

function byId(list: readonly Workflow[]): ReadonlyMap<string, Workflow> {
  if (!Array.isArray(list) || list.length === 0) throw new TypeError('stepsEngine: workflows must name one or more.');
  const workflows = new Map<string, Workflow>();
  for (const each of list as readonly Workflow[]) {
    if (workflows.has(each.id)) throw new TypeError(`stepsEngine: two workflows have the id ${each.id}. Rename one.`);
    workflows.set(each.id, each);
  }
  return workflows;
}

function refusalOf(schema: Schema, inputs: JsonObject): EngineRefusal | undefined {
  const [issue] = validate(schema, inputs).issues ?? [];
  if (issue === undefined) return undefined;
  const field = placeOf('inputs', issue);
  if (isAbsent(inputs, issue) && WORDS_FOR_ABSENT.test(issue.message)) return { field, problem: 'is required' };
  return { field, problem: `is not accepted: ${issue.message.replace(/^Invalid input: /, '')}` };
}

/** The words of validators for a member that is not there. The author of a schema may have better ones. */
const WORDS_FOR_ABSENT = /undefined|required|^Invalid /i;

function isAbsent(inputs: JsonObject, { path = [] }: SchemaIssue): boolean {
  let found: unknown = inputs;
  for (const part of path) {
    const key = typeof part === 'object' ? part.key : part;
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, key) ? Reflect.get(found, key) : undefined;
  }
  return found === undefined;
}

async function execute(found: Workflow, run: Run, execution: Execution, means: TurnMeans): Promise<RunOutcome> {
  // A later release of the schema may reject what an earlier one accepted.
  const inputs = validate(found.inputs, run.inputs);
  if (inputs.issues !== undefined) {
    const message = `The workflow ${found.id} no longer accepts the inputs of this run.`;
    return failed(new StepFailure('inputs_no_longer_accepted', message));
  }
  const turn = new TurnOfSteps(run, execution, await readJournal(execution.history()), means);
  const { failure } = turn;
  if (failure !== undefined) {
    await turn.revisit(async () => found.run(inputs.value, turn.steps, run));
    await turn.compensate(failure);
    return failed(failure);
  }
  const unhandled = new UnhandledRejections();
  try {
    const outputs = await unhandled.within(async () => found.run(inputs.value, turn.steps, run));
    turn.end();
    await turn.settled();
    // Node tells of a rejection that nothing handles when the event loop turns.
    if (turn.hasFailed) await yieldToLoop();
    if (unhandled.first !== undefined) throw unhandled.first.reason;
    if (turn.forgotten !== undefined) throw turn.forgotten;
    return (await turn.mismatch()) ?? { status: 'completed', outputs: outputsOf(found, outputs) };
  } catch (error) {
    turn.end();
    await turn.settled();
    execution.signal.throwIfAborted();
    if (!(error instanceof StepFailure)) {
      await turn.compensate(WORKFLOW_FAILED);
      throw error;
    }
    if (error.code === MISMATCH) return failed(error);
    const mismatch = await turn.mismatch();
    if (mismatch !== undefined) return mismatch;
    await turn.compensate(error);
    // The host writes it to its log, and tells callers of an internal error alone.
    if (turn.isUnexpected(error) && means.onError === undefined) throw error.cause;
    return failed(error);
  }
}

/** The failure of a workflow by another error, as its compensation records it. */
const WORKFLOW_FAILED = new StepFailure('internal_error', 'The workflow failed.');

function failed(error: StepFailure): RunOutcome {
  const { step } = error;
  return { status: 'failed', error: failureOf(error), ...(step !== undefined && { failedNodeId: step }) };
}

function outputsOf({ id, outputs: schema }: Workflow, outputs: unknown): JsonObject {
  const validated = schema === undefined ? { value: outputs } : validate(schema, outputs);
  if (validated.issues !== undefined) {
    const [issue = { message: 'no reason given' }] = validated.issues;
    throw new TypeError(`workflow ${id}: ${placeOf('outputs', issue)} is not accepted by its schema: ${issue.message}`);
  }
  const stored: Json = JSON.parse(JSON.stringify(validated.value ?? {}));
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored)) {
    throw new TypeError(`workflow ${id}: its outputs are no object. Return an object.`);
  }
  return stored as JsonObject;
}
