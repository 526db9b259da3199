import { withinTime } from '../deadline.ts';
import { boundedBytes } from '../jwt/bounded-bytes.ts';
import { type JsonObject, parseObject } from '../jwt/strict-json.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import type { SignedAnswers } from './signed-answer.ts';

/** The part of `fetch` that introspection uses. */
export type IntrospectionFetch = (
  url: string,
  init: {
    /** Introspection is a POST. */
    readonly method: 'POST';
    /** Request headers. */
    readonly headers: Readonly<Record<string, string>>;
    /** A form with the token. */
    readonly body: string;
    /** Redirects are not followed: the token and the credentials would go elsewhere. */
    readonly redirect: 'manual';
    /** Aborts at the time limit. */
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

/** An introspection endpoint, and how it is asked. */
export interface Endpoint {
  readonly url: string;
  readonly issuer: string;
  readonly client: ClientAuthentication;
  readonly fetch: IntrospectionFetch;
  readonly timeoutMs: number;
  /** Undefined: answers are plain JSON. */
  readonly signed: SignedAnswers | undefined;
}

/**
 * Asks an issuer about a token.
 *
 * @returns the members of the answer; undefined for a token that is not active
 * @throws {Error} when no judgement is to be had: the endpoint fails, is late, or answers in another form
 * @see RFC 7662, section 2; RFC 9701, section 5
 */
export async function introspected(endpoint: Endpoint, token: string): Promise<JsonObject | undefined> {
  try {
    return await withinTime('The answer', endpoint.timeoutMs, ask(endpoint, token));
  } catch (error) {
    const problem = error instanceof Error ? error.message : typeof error;
    // For the log of the operator, who may have several issuers.
    throw new Error(`A token of ${endpoint.issuer} cannot be introspected. ${problem}`, { cause: error });
  }
}

async function ask(endpoint: Endpoint, token: string): Promise<JsonObject | undefined> {
  const { url, issuer, client, fetch, timeoutMs, signed } = endpoint;
  const signal = AbortSignal.timeout(timeoutMs);
  const { headers, parameters } = await client.partsOf({ issuer });
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      accept: signed === undefined ? 'application/json' : 'application/token-introspection+jwt',
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ token, token_type_hint: 'access_token', ...parameters }).toString(),
    redirect: 'manual',
    signal,
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    const advice =
      response.status === 401 || response.status === 403 ? ` Check the credentials of this host there.` : '';
    throw new Error(`The endpoint answered with status ${response.status}.${advice}`);
  }
  const bytes = await boundedBytes(response, MAX_BYTES);
  const answer = signed === undefined ? parseObject(bytes) : await signed.membersOf(bytes);
  if (answer === undefined || typeof answer.active !== 'boolean') {
    throw new Error('The answer must be a JSON object with the member active, true or false.');
  }
  return answer.active ? answer : undefined;
}

const MAX_BYTES = 64 * 1024;
