/** Ids of the fixture workflows. */
export const NOOP = 'conformance-noop';
export const DELAY = 'conformance-delay';
export const CANCELLABLE = 'conformance-cancellable';
export const FAILURE = 'conformance-failure';
export const APPROVAL = 'conformance-approval';
export const QUORUM = 'conformance-approval-quorum';
export const CLARIFICATION = 'conformance-clarification';
export const EXTERNAL_EVENT = 'conformance-interrupt-external-event';
export const EFFECT = 'conformance-effect';
export const IDEMPOTENT = 'conformance-idempotent';

/** Id of a fixture workflow. */
export type FixtureName =
  | 'conformance-noop'
  | 'conformance-delay'
  | 'conformance-cancellable'
  | 'conformance-failure'
  | 'conformance-approval'
  | 'conformance-approval-quorum'
  | 'conformance-clarification'
  | 'conformance-interrupt-external-event'
  | 'conformance-effect'
  | 'conformance-idempotent';

/** Description of a workflow that the suite runs on the host. */
export interface Fixture {
  /** The behaviour, as one sentence. */
  readonly behaviour: string;
  /** JSON Schema of `inputs`. A run may be created without inputs unless the schema requires a member. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Status of a run that no caller answers or cancels, when it stays in that status. */
  readonly settles: 'completed' | 'failed' | 'waiting-approval' | 'waiting-input' | 'waiting-external';
  /** Node at which the run waits for an answer. */
  readonly node?: string;
  /** `resumeValue` of the answer that the suite gives, and the status of the run afterwards. */
  readonly answers?: readonly { readonly resumeValue: unknown; readonly settles: string }[];
}

const NO_INPUTS = { type: 'object' } as const;
const DELAY_INPUTS = {
  type: 'object',
  properties: { delayMs: { type: 'integer', minimum: 0, maximum: 60_000, default: 0 } },
} as const;
const DECIDED_AT = '2026-01-01T00:00:00.000Z';

/**
 * The workflows that the suite runs. `fixtures.json` of the package has the same content, for hosts in other languages.
 *
 * @example
 * import { FIXTURES } from '@svc/conformance';
 *
 * for (const [name, { behaviour }] of Object.entries(FIXTURES)) console.log(name, behaviour);
 */
export const FIXTURES: Readonly<Record<FixtureName, Fixture>> = {
  [NOOP]: { behaviour: 'Completes at once.', inputs: NO_INPUTS, settles: 'completed' },
  [FAILURE]: { behaviour: 'Fails at once.', inputs: NO_INPUTS, settles: 'failed' },
  [DELAY]: { behaviour: 'Completes after `delayMs` milliseconds.', inputs: DELAY_INPUTS, settles: 'completed' },
  [CANCELLABLE]: {
    behaviour: 'Completes after `delayMs` milliseconds, and can be cancelled until then.',
    inputs: DELAY_INPUTS,
    settles: 'completed',
  },
  [IDEMPOTENT]: {
    behaviour: 'Completes at once. A `nonce` that is not a text is refused.',
    inputs: { type: 'object', properties: { nonce: { type: 'string' } } },
    settles: 'completed',
  },
  [EFFECT]: { behaviour: 'Has one effect, which succeeds, and completes.', inputs: NO_INPUTS, settles: 'completed' },
  [APPROVAL]: {
    behaviour: 'Waits for an approval with the actions accept and reject. A rejection fails the run.',
    inputs: NO_INPUTS,
    settles: 'waiting-approval',
    node: 'gate',
    answers: [
      { resumeValue: { action: 'accept', decidedAt: DECIDED_AT }, settles: 'completed' },
      { resumeValue: { action: 'reject', decidedAt: DECIDED_AT }, settles: 'failed' },
    ],
  },
  [QUORUM]: {
    behaviour: 'Waits for approvals of two principals. One rejection fails the run.',
    inputs: NO_INPUTS,
    settles: 'waiting-approval',
    node: 'gate',
    answers: [
      { resumeValue: { action: 'accept', decidedAt: DECIDED_AT }, settles: 'waiting-approval' },
      { resumeValue: { action: 'reject', decidedAt: DECIDED_AT }, settles: 'failed' },
    ],
  },
  [CLARIFICATION]: {
    behaviour: 'Asks one question with the id `q1`, whose answer is a text, and completes with the answer.',
    inputs: NO_INPUTS,
    settles: 'waiting-input',
    node: 'ask',
    answers: [{ resumeValue: { answers: { q1: 'blue' } }, settles: 'completed' }],
  },
  [EXTERNAL_EVENT]: {
    behaviour: 'Waits for an external event, and completes with its payload.',
    inputs: NO_INPUTS,
    settles: 'waiting-external',
    node: 'wait-for-external',
    answers: [{ resumeValue: { conformance: 'arrived' }, settles: 'completed' }],
  },
};

/** A workflow of the host that stands in for a fixture: it has the same behaviour, inputs and answers. */
export interface OwnWorkflow {
  /** Id of the workflow on the host. */
  readonly id: string;
  /** Node at which its runs wait. Default: the node of the fixture. */
  readonly node?: string;
}

/** The workflows that stand in for fixtures. */
export type OwnWorkflows = Readonly<Partial<Record<FixtureName, OwnWorkflow>>>;

/** Tells whether a text is the id of a fixture. */
export function isFixture(name: string): name is FixtureName {
  return Object.hasOwn(FIXTURES, name);
}

/** Returns the id that the host has for a fixture. Another workflow keeps its id. */
export function workflowId({ workflows }: { readonly workflows: OwnWorkflows }, name: string): string {
  return (isFixture(name) ? workflows[name]?.id : undefined) ?? name;
}

/** Returns the node at which runs of a fixture wait. */
export function nodeOf({ workflows }: { readonly workflows: OwnWorkflows }, name: FixtureName): string {
  return workflows[name]?.node ?? FIXTURES[name].node ?? '';
}
