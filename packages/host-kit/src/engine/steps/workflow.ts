import { type Demand, functionThat, type OptionNames, requireForms, requireKnown } from '../../known-options.ts';
import type { Run } from '../../ports/runs.ts';
import type { ChildWorkflow } from './child-workflow.ts';
import { type InferInput, type InferOutput, isSchema, type Schema } from './schema.ts';
import type { Steps } from './steps.ts';

/** The parts of a workflow. */
export interface WorkflowDefinition<Inputs extends Schema, Outputs> {
  /** The id under which callers start it, 1 to 256 characters. */
  readonly id: string;
  /** A title for people. Clients, and the mounts of other protocols, show it. Default: none. */
  readonly title?: string;
  /** Holds the inputs of a run before it is created. It must accept an object. */
  readonly inputs: Inputs;
  /** Holds the outputs before the run completes. Default: any object. */
  readonly outputs?: Schema<Outputs>;
  /**
   * Does the work, step by step, and resolves with the outputs. It is called again whenever the run goes on, for example
   * after a restart or an answer. A step that has ended then returns its recorded result at once. So code that has an
   * effect, or differs from call to call (the time, a random number), belongs into a step.
   *
   * @throws {StepFailure} to fail the run with this code and message. Another error fails it with `internal_error`
   */
  run(inputs: InferOutput<Inputs>, steps: Steps, run: Run): Promise<Outputs>;
}

/** A workflow of `stepsEngine`. */
export interface Workflow<Inputs = unknown, Outputs = unknown> extends ChildWorkflow<Inputs, Outputs> {
  readonly title: string | undefined;
  readonly inputs: Schema;
  readonly outputs: Schema | undefined;
  /** `inputs` are those that the schema returned. */
  readonly run: (inputs: unknown, steps: Steps, run: Run) => Promise<unknown>;
}

/**
 * Defines a workflow of `stepsEngine`: a function of its inputs that does its work in steps.
 *
 * @throws {TypeError} for an unknown part, an id that is no text of 1 to 256 characters, and `inputs` or `outputs` that are
 * no schema
 * @example
 * const publish = workflow({
 *   id: 'publish',
 *   inputs: z.object({ draft: z.string().min(1) }),
 *   async run({ draft }, { step, ask }) {
 *     const { url } = await step('upload', () => upload(draft));
 *     const { decision } = await ask('review', { kind: 'approval', data: { title: `Publish ${url}?` } });
 *     if (decision !== 'granted') throw new StepFailure('rejected', 'The page was rejected.');
 *     await step('publish', () => publishPage(url), { retry: { maxAttempts: 5 } });
 *     return { url };
 *   },
 * });
 */
export function workflow<const Inputs extends Schema, Outputs extends object>(
  definition: WorkflowDefinition<Inputs, Outputs>,
): Workflow<InferInput<Inputs>, Outputs> {
  requireKnown('workflow', definition, PARTS);
  const { id, title, inputs, outputs } = definition;
  if (typeof id !== 'string' || id === '' || id.length > MOST_ID) {
    throw new TypeError(`workflow: id must be a text of 1 to ${MOST_ID} characters.`);
  }
  requireForms(`workflow ${id}`, definition, FORMS);
  return { id, title, inputs, outputs, run: (given, steps, run) => definition.run(given, steps, run) };
}

const MOST_ID = 256;

const PARTS = {
  id: true,
  title: true,
  inputs: true,
  outputs: true,
  run: true,
} as const satisfies OptionNames<WorkflowDefinition<Schema, unknown>>;

const A_SCHEMA: Demand = {
  form: 'a schema',
  fits: isSchema,
  remedy: 'Pass one such as z.object({ name: z.string() }).',
};

const FORMS: Readonly<Record<string, Demand>> = {
  inputs: A_SCHEMA,
  outputs: { ...A_SCHEMA, isOptional: true },
  run: functionThat('Pass the function that does the work: run: async (inputs, { step }) => ({}).'),
};
