import { type AddressClass, addressClass } from './address-class.ts';
import type { AuthError, AuthErrorCode } from './errors.ts';
import type { Principal } from './principal.ts';
import { REFUSAL_REASONS, type RefusalReason } from './refusal-reason.ts';
import type { RequestHead } from './request-head.ts';

/** The lane that decided: `other` is a lane of your own, `none` means that no lane knew the credential. */
export type LaneClass = 'api-key' | 'bearer-token' | 'introspection' | 'workload' | 'other' | 'none';

/**
 * The report of one decision about a caller, for logs and metrics. Each field has a closed set of values: nothing in it
 * is of a credential, a claim, an address or a request.
 */
export type OutcomeReport =
  | (ReportedClient & {
      /** The caller is authenticated. */
      readonly kind: 'authenticated';
      /** The kind of the principal; `workload` when none is stated. */
      readonly principalKind: 'user' | 'agent' | 'anonymous' | 'workload';
    })
  | (ReportedClient & {
      /** The caller is refused. */
      readonly kind: 'refused';
      /** The code of the refusal, which the caller gets. */
      readonly code: AuthErrorCode;
      /** The class of the cause, which the caller does not get. */
      readonly reason: RefusalReason;
      /** `host` when the host could not judge the caller. */
      readonly fault: 'caller' | 'host';
    });

/** The fields of every {@link OutcomeReport}. */
export interface ReportedClient {
  /** The lane that decided. */
  readonly lane: LaneClass;
  /** The class of the address of the client. */
  readonly address: AddressClass;
  /**
   * A number from 0 to 63, the same for each request of one client: it tells one client from many, and names none.
   * Undefined when the address is unknown.
   */
  readonly client: number | undefined;
}

/** Receives reports. It must not wait: the request does. An error of it changes nothing. */
export type OnOutcome = (report: OutcomeReport) => void;

/** The decision on one request. */
export interface Decided {
  /** The name of the deciding lane, or that of the principal. */
  readonly lane: string | undefined;
  /** The key by which the client is counted. */
  readonly client: string | undefined;
  readonly outcome: { readonly principal: Pick<Principal, 'kind'> } | { readonly error: AuthError };
}

/** Returns the key by which a client is counted; undefined when that fails. */
export function clientIn(
  request: RequestHead,
  clientOf: ((request: RequestHead) => string | undefined) | undefined,
): string | undefined {
  try {
    return clientOf === undefined ? request.peer?.address : clientOf(request);
  } catch {
    return undefined;
  }
}

/** Reports a decision. Neither an exception nor a rejected promise of `onOutcome` reaches the caller. */
export function report(onOutcome: OnOutcome, { lane, client, outcome }: Decided): void {
  const about = { lane: laneClass(lane), ...wordsOn(client) };
  try {
    const told: unknown = onOutcome(
      'error' in outcome
        ? { kind: 'refused', ...about, ...refusalOf(outcome.error) }
        : { kind: 'authenticated', ...about, principalKind: outcome.principal.kind ?? 'workload' },
    );
    // An async function fits the type, too.
    if (told instanceof Promise) told.catch(() => {});
  } catch {
    // The decision is made, whether it is reported or not.
  }
}

interface ClientWords {
  readonly address: AddressClass;
  readonly client: number | undefined;
}

/** The words on recent clients, because a client sends many requests. */
const known = new Map<string | undefined, ClientWords>();
const MOST_KNOWN = 1024;

function wordsOn(client: string | undefined): ClientWords {
  const found = known.get(client);
  if (found !== undefined) return found;
  const words = { address: addressClass(client), client: numberOf(client) };
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(client, words);
  return words;
}

function refusalOf({ code, reason, fault }: AuthError): {
  readonly code: AuthErrorCode;
  readonly reason: RefusalReason;
  readonly fault: 'caller' | 'host';
} {
  // A lane of another version makes errors without a reason.
  return { code, reason: REFUSAL_REASONS.includes(reason) ? reason : 'internal', fault };
}

function laneClass(name: string | undefined): LaneClass {
  return name === undefined ? 'none' : (LANES.get(name) ?? 'other');
}

/** By the names of lanes and of principals. */
const LANES: ReadonlyMap<string, LaneClass> = new Map([
  ['api-key', 'api-key'],
  ['bearer-token', 'bearer-token'],
  ['oidc', 'bearer-token'],
  ['oauth2', 'bearer-token'],
  ['introspection', 'introspection'],
  ['workload', 'workload'],
]);

function numberOf(client: string | undefined): number | undefined {
  if (client === undefined) return undefined;
  let number = 0;
  for (let index = 0; index < client.length; index++) number = (number * 31 + client.charCodeAt(index)) | 0;
  return (number ^ (number >>> 16)) & 63;
}
