import { REALMS, type RealmName } from './plan.ts';

/** A response of a host. */
export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the rules check the documented shape
  readonly body: any;
}

/** The parts of a request that vary between calls. */
export interface Call {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly major?: 1 | 2;
  readonly body?: object;
  readonly idempotencyKey?: string | undefined;
}

/**
 * Sends one request to a host, with a deadline of 8 s and without a retry.
 *
 * @throws {Error} when no response arrives
 */
export async function call(
  url: string,
  realm: RealmName,
  path: string,
  { method, major, body, idempotencyKey }: Call = {},
): Promise<Answer> {
  const response = await fetch(url + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      authorization: `Bearer ${REALMS[realm].key}`,
      ...(major !== undefined && { 'svc-version': String(major) }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(CALL_MS),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

const CALL_MS = 8000;
