import type { Decision } from '../authorize.ts';
import { withinTime } from '../deadline.ts';
import { AuthError } from '../errors.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { Principal } from '../principal.ts';
import { reachesWorkspace } from '../tenancy.ts';
import { bothFilters, checkedFilter } from './filter.ts';
import type { ListFilter } from './list-filter.ts';
import type { ListQuestion, PolicyAnswer, PolicyEngine, PolicyQuestion } from './port.ts';

/** Options of {@link policyDecider}. */
export interface PolicyDeciderOptions {
  /** The engine that decides. */
  readonly engine: PolicyEngine;
  /** Time limit of the engine in milliseconds. When it fails or is late, the caller is refused. Default 1000. */
  readonly timeoutMs?: number;
  /** Most questions in a batch: a whole number, at least 1. Default 1000. */
  readonly maxBatch?: number;
}

const POLICY_DECIDER_OPTIONS: OptionNames<PolicyDeciderOptions> = { engine: true, timeoutMs: true, maxBatch: true };

/** A decision with its reasons. It fits `authorizationDecided`. */
export type PolicyDecision = Decision & {
  /** The rules that decided, for the log of the operator. The caller does not get them. */
  readonly reasons: readonly string[];
};

/** The explanation of a decision, for the operator: its steps in their order, to the first that refuses. */
export interface PolicyExplanation {
  /** Whether every step allows. */
  readonly allowed: boolean;
  /** The steps. */
  readonly steps: readonly {
    /** `tenancy`: the reach of the caller; `engine`: the policies. */
    readonly step: 'tenancy' | 'engine';
    /** Whether the step allows. */
    readonly allowed: boolean;
    /** The reasons of the step. */
    readonly reasons: readonly string[];
  }[];
}

/** Decides by policies, within the reach of the caller. */
export interface PolicyDecider {
  /** Decides on one operation. It never rejects: a failure refuses. */
  decide(question: PolicyQuestion): Promise<PolicyDecision>;
  /**
   * Decides on several operations, with one question to the engine. The decisions have the order of the questions.
   *
   * @throws {TypeError} when there are more than `maxBatch`
   */
  decideAll(questions: readonly PolicyQuestion[]): Promise<readonly PolicyDecision[]>;
  /**
   * Returns the condition that the allowed resources of a kind meet, for the query of a list. The query adds the tenant of
   * the caller itself. A failure allows no resource.
   */
  filter(question: ListQuestion): Promise<ListFilter>;
  /** Tells the steps of a decision. */
  explain(question: PolicyQuestion): Promise<PolicyExplanation>;
}

/**
 * Makes a decider from a policy engine. A resource of another tenant, or of a workspace that the caller does not reach, is
 * refused before the engine is asked; no policy can allow it. An engine that fails, is late, or gives a malformed answer
 * refuses.
 *
 * @throws {TypeError} when an option is unknown or malformed
 * @example
 * const policies = policyDecider({ engine: rolePolicy({ roles, scopes: { 'runs.cancel': 'runs:cancel' } }) });
 * const decision = await policies.decide({ principal, action: 'runs.cancel', resource: run });
 * if (!decision.allowed) throw decision.error;
 */
export function policyDecider(options: PolicyDeciderOptions): PolicyDecider {
  requireKnown('policyDecider', options, POLICY_DECIDER_OPTIONS);
  const { engine, timeoutMs = 1000, maxBatch = 1000 } = options;
  if (typeof engine?.answer !== 'function' || typeof engine.filter !== 'function')
    throw new TypeError('policyDecider: engine must be a PolicyEngine. Pass rolePolicy(…), or one of your own.');
  if (!(timeoutMs > 0)) throw new TypeError('policyDecider: timeoutMs must be a positive number of milliseconds.');
  if (!Number.isSafeInteger(maxBatch) || maxBatch < 1)
    throw new TypeError('policyDecider: maxBatch must be a whole number, at least 1.');
  return { decide, decideAll, filter, explain };

  async function decide(question: PolicyQuestion): Promise<PolicyDecision> {
    return (await decideAll([question]))[0] ?? refused(UNANSWERED);
  }

  async function decideAll(questions: readonly PolicyQuestion[]): Promise<readonly PolicyDecision[]> {
    if (questions.length > maxBatch)
      throw new TypeError(`policyDecider: at most ${maxBatch} questions at once. Ask for a filter, or in parts.`);
    const reach = questions.map(isWithinReach);
    const within = questions.filter((_, index) => reach[index] === true);
    const answers = within.length === 0 ? [] : await answersTo(within);
    let next = 0;
    return questions.map((_, index) => {
      if (reach[index] !== true) return refused(OUTSIDE);
      const answer = answers instanceof Failure ? answers : (answers[next++] ?? UNANSWERED);
      return answer instanceof Failure || !answer.allowed
        ? refused(answer)
        : { allowed: true, reasons: answer.reasons };
    });
  }

  async function answersTo(questions: readonly PolicyQuestion[]): Promise<readonly PolicyAnswer[] | Failure> {
    try {
      const answers: unknown = await withinTime('The policy engine', timeoutMs, engine.answer(questions));
      if (!Array.isArray(answers) || answers.length !== questions.length || !answers.every(isAnswer))
        throw new TypeError(`engine: answer must return ${questions.length} answers, each with allowed and reasons.`);
      return answers;
    } catch (cause) {
      return new Failure(cause);
    }
  }

  async function filter(question: ListQuestion): Promise<ListFilter> {
    try {
      const found = await withinTime('The policy engine', timeoutMs, engine.filter(question));
      return bothFilters(reachOf(question.principal), checkedFilter(found));
    } catch {
      return { kind: 'none' };
    }
  }

  async function explain(question: PolicyQuestion): Promise<PolicyExplanation> {
    if (!isWithinReach(question)) return { allowed: false, steps: [{ step: 'tenancy', ...OUTSIDE }] };
    const { allowed, reasons } = await decide(question);
    return {
      allowed,
      steps: [
        { step: 'tenancy', allowed: true, reasons: [] },
        { step: 'engine', allowed, reasons },
      ],
    };
  }
}

/** The engine gave no usable answer. */
class Failure {
  readonly allowed = false;
  readonly reasons = ['engine-failed'];
  readonly cause: unknown;
  constructor(cause: unknown) {
    this.cause = cause;
  }
}

const OUTSIDE: PolicyAnswer = { allowed: false, reasons: ['outside-tenancy'] };
const UNANSWERED: PolicyAnswer = { allowed: false, reasons: ['engine-failed'] };

function isWithinReach({ principal: { tenancy }, resource }: PolicyQuestion): boolean {
  return resource.tenant === tenancy.tenant && reachesWorkspace(tenancy, resource.workspace);
}

function reachOf({ tenancy: { workspaces } }: Principal): ListFilter {
  if (workspaces === 'all') return { kind: 'all' };
  return { kind: 'where', condition: { field: 'workspace', in: workspaces } };
}

function isAnswer(answer: unknown): answer is PolicyAnswer {
  const { allowed, reasons } = Object(answer);
  const isText = (reason: unknown) => typeof reason === 'string';
  return typeof allowed === 'boolean' && Array.isArray(reasons) && reasons.every(isText);
}

/** The caller does not learn which policy refused, nor that the resource exists elsewhere. */
function refused(answer: PolicyAnswer | Failure): PolicyDecision {
  const message = 'The policies of this host do not allow this operation. Ask the operator for access.';
  const failure =
    answer instanceof Failure ? ({ cause: answer.cause, fault: 'host', reason: 'directory' } as const) : {};
  return { allowed: false, reasons: answer.reasons, error: new AuthError('forbidden', message, undefined, failure) };
}
