import { acceptsForeignKey } from '../api-key/format.ts';
import { authenticator } from '../authenticate.ts';
import { authorize } from '../authorize.ts';
import { presentedCredential } from '../credential.ts';
import type { AuthError, AuthErrorCode } from '../errors.ts';
import { readJwt } from '../jwt/jwt.ts';
import type { AuthOutcome, Lane } from '../lane.ts';
import type { LaneClass } from '../outcome-report.ts';
import type { Principal } from '../principal.ts';
import type { RefusalReason } from '../refusal-reason.ts';
import type { RequestHead } from '../request-head.ts';
import { type Check, HEADER_CHECKS, LANE_CHECKS, REMEDIES } from './checks.ts';
import { tokenNotes } from './token-notes.ts';

/** One check of a request. */
export interface ExplainedStep {
  /** The name of the check. */
  readonly name: string;
  /** Its result. A check after a failed one is not reached. */
  readonly outcome: 'passed' | 'failed' | 'not reached';
  /** The finding. It contains no secret and no whole token. */
  readonly note: string;
  /** The advice for a failed check. */
  readonly remedy?: string;
}

/** The explanation of a decision. */
export interface Explanation {
  /** Whether the caller is authenticated, and holds the scope that was asked for. */
  readonly accepted: boolean;
  /** The lane that decided. */
  readonly lane: LaneClass;
  /** The code of the refusal. */
  readonly code?: AuthErrorCode;
  /** The HTTP status of the refusal. */
  readonly status?: number;
  /** The class of the cause. */
  readonly reason?: RefusalReason;
  /** Every check of the lane, in its order. */
  readonly steps: readonly ExplainedStep[];
  /** The grants of an authenticated caller. */
  readonly principal?: Pick<Principal, 'id' | 'lane' | 'binding' | 'tenancy' | 'scopes' | 'expiresAt'>;
}

/** Options of `explainRequest`. */
export interface ExplainOptions {
  /** The lanes of the host, in their order. Their clocks show the time of the judgement. */
  readonly lanes: readonly Lane[];
  /** That time in milliseconds since the epoch. */
  readonly at: number;
  /** A scope that the operation needs. Default: none is asked for. */
  readonly scope?: string | undefined;
}

/**
 * Explains the decision about a captured request: the lane that decides, each of its checks, and the remedy for the one
 * that fails. The lanes themselves judge the request. Limits are not judged, and a lane with a replay store of its own
 * does not know which proofs the host has seen.
 *
 * @throws {TypeError} when `lanes` is empty or has a name twice
 * @example
 * const { steps } = await explainRequest(request, { lanes, at: Date.now() });
 * const failed = steps.find(({ outcome }) => outcome === 'failed');
 */
export async function explainRequest(request: RequestHead, options: ExplainOptions): Promise<Explanation> {
  let lane: LaneClass = 'none';
  const auth = authenticator({
    lanes: options.lanes,
    onOutcome: (report) => {
      lane = report.lane;
    },
  });
  const outcome = await auth.authenticate(request);
  const checks = [...HEADER_CHECKS, ...LANE_CHECKS[lane]];
  const notes = passedNotes(request, outcome, options.at);
  if (outcome.kind === 'refused') return refused(outcome.error, lane, stepsOf(checks, notes, outcome.error, request));
  const { id, lane: name, binding, tenancy, scopes, expiresAt } = outcome.principal;
  const principal = { id, lane: name, binding, tenancy, scopes, expiresAt };
  const steps = stepsOf(checks, notes, undefined, request);
  const decision = options.scope === undefined ? undefined : authorize(outcome.principal, options.scope);
  if (decision === undefined) return { accepted: true, lane, steps, principal };
  if (decision.allowed) {
    const step = { name: 'scope', outcome: 'passed', note: `the credential holds ${options.scope}` } as const;
    return { accepted: true, lane, steps: [...steps, step], principal };
  }
  return { ...refused(decision.error, lane, [...steps, failedStep('scope', decision.error)]), principal };
}

function refused(error: AuthError, lane: LaneClass, steps: readonly ExplainedStep[]): Explanation {
  const { code, status, reason } = error;
  return { accepted: false, lane, code, status, reason, steps };
}

function stepsOf(
  checks: readonly Check[],
  notes: ReadonlyMap<string, string>,
  error: AuthError | undefined,
  request: RequestHead,
): readonly ExplainedStep[] {
  const at = error === undefined ? checks.length : checks.findIndex(({ reasons }) => reasons.includes(error.reason));
  // A reason of no check, such as an error inside a lane: nothing is known of the checks.
  if (error !== undefined && at === -1) return [failedStep('judgement', error)];
  return checks.map(({ name, passed = '' }, index) => {
    if (index < at) return { name, outcome: 'passed', note: notes.get(name) ?? passed };
    if (error === undefined || index > at) return { name, outcome: 'not reached', note: '' };
    return failedStep(name, error, [notes.get(name), hintOf(error, request)]);
  });
}

function failedStep(name: string, error: AuthError, facts: readonly (string | undefined)[] = []): ExplainedStep {
  const { message, reason, fault, cause } = error;
  const note = [
    message,
    ...facts.filter((fact) => fact !== undefined && fact !== '').map((fact) => `Found: ${fact}.`),
    ...(fault === 'host' && cause instanceof Error ? [`Cause: ${cause.message}`] : []),
  ].join(' ');
  return { name, outcome: 'failed', note, remedy: REMEDIES[reason] };
}

/** The usual mistakes behind an unknown credential, which the answer of a host must not tell. */
function hintOf({ reason }: AuthError, request: RequestHead): string | undefined {
  const presented = presentedCredential(request);
  if (reason !== 'unknown' || presented.kind !== 'one') return undefined;
  const { scheme, token } = presented.credential;
  if (readJwt(token) !== undefined)
    return `a signed token of an issuer that is not configured (${tokenNotes(token, 0).get('issuer')})`;
  if (scheme !== 'bearer') return 'a scheme other than Bearer and DPoP';
  return acceptsForeignKey(token)
    ? 'a well-formed key without a stored record'
    : 'no token and no well-formed key: it is incomplete, or has a wrong checksum';
}

function passedNotes(request: RequestHead, outcome: AuthOutcome, at: number): ReadonlyMap<string, string> {
  const presented = presentedCredential(request);
  if (presented.kind === 'none')
    return new Map([['header', 'no Authorization; the connection may have a certificate']]);
  if (presented.kind !== 'one') return new Map();
  const { scheme, token } = presented.credential;
  const notes = new Map(tokenNotes(token, at));
  notes.set('header', `one credential of the scheme ${scheme}, ${token.length} characters`);
  if (outcome.kind === 'authenticated') {
    const { binding, credentialId, tenancy, lane } = outcome.principal;
    notes.set('sender', binding === 'bearer' ? 'not bound to a sender' : `bound by ${binding}`);
    notes.set('grants', `tenant ${tenancy.tenant}`);
    notes.set('binding', `principal ${outcome.principal.id}`);
    if (lane === 'api-key') notes.set('key', `the record ${credentialId}`);
  }
  return notes;
}
