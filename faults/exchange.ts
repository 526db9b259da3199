import type { Asked } from '../examples/reference-host/test/conformance/faulty-proxy.ts';

/** One request with its answer, as they passed through a recording proxy. */
export interface Exchange {
  readonly asked: Asked;
  /** The part that the host wrote: an answer, or the request of a delivery. */
  readonly said: Said;
  readonly kind: Kind;
  /** Time of the exchange, in ms since the epoch. */
  readonly at: number;
}

/** A message of the host. A mutation changes nothing else. */
export interface Said {
  /** Undefined for a delivery. */
  readonly status: number | undefined;
  /** Header values by lower-case name. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: string;
}

/** The properties that exchanges of one kind share. A mutation applies to all exchanges of one kind, as a fault in the code of a host would. */
export interface Kind {
  /** Method and path of the API description, without `/v1`: `GET /runs/{runId}`; or `delivery`. */
  readonly operation: string;
  readonly major: number;
  readonly status: number | undefined;
  /** Code of an error, or the circumstance that makes an answer different: `replayed`, `conditional`, `stream`. */
  readonly detail: string;
}

/** The operation of deliveries. */
export const DELIVERY = 'delivery';

/** Finds the operation of a request in the paths of an API description. Returns undefined for a path that is in none. */
export type OperationOf = (method: string, target: string) => string | undefined;

/** Makes the lookup from the paths of both API descriptions. Of several paths that fit, the most literal one is meant. */
export function operations(paths: readonly string[]): OperationOf {
  const patterns = [...new Set(paths.map((path) => path.replace(/^\/v1(?=\/)/, '')))]
    .map((path) => ({ path, pattern: patternOf(path), literal: path.replace(/\{\w+\}/g, '').length }))
    .sort((one, other) => other.literal - one.literal);
  return (method, target) => {
    const path = (target.split('?', 1)[0] ?? target).replace(/^\/v1(?=\/)/, '');
    const found = patterns.find(({ pattern }) => pattern.test(path));
    return found === undefined ? undefined : `${method === 'HEAD' ? 'GET' : method} ${found.path}`;
  };
}

/** A path parameter matches one segment; that of files, `{path}`, one or more. */
function patternOf(path: string): RegExp {
  const parts = path.split(/(\{\w+\})/).map((part) => {
    if (part === '{path}') return '.+';
    return part.startsWith('{') ? '[^/:?]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`);
}

/** Returns the kind of an answer, or undefined when its request names no path of the API descriptions or its answer no version. */
export function kindOfAnswer(operationOf: OperationOf, asked: Asked, said: Said): Kind | undefined {
  const operation = operationOf(asked.method, asked.target);
  const major = Number(said.headers['svc-version']?.[0]?.split('.', 1)[0]);
  if (operation === undefined || Number.isNaN(major)) return undefined;
  return { operation, major, status: said.status, detail: detailOf(asked, said) };
}

function detailOf({ headers, method }: Asked, said: Said): string {
  const { status = 0 } = said;
  if (said.headers['svc-idempotent-replay'] !== undefined) return 'replayed';
  if (status >= 400) {
    const envelope = jsonIn(said.body);
    return isRecord(envelope) && typeof envelope.error === 'string' ? envelope.error : '';
  }
  if (isStream(said)) return 'stream';
  if (method === 'HEAD') return 'head';
  return headers['if-none-match'] === undefined ? '' : 'conditional';
}

/** Returns the kind of a delivery. Major 2 binds the ids of its runs to their tenant. */
export function kindOfDelivery(said: Said): Kind {
  const body = jsonIn(said.body);
  const runId = isRecord(body) ? String(body.runId) : '';
  return { operation: DELIVERY, major: runId.includes('/') ? 2 : 1, status: undefined, detail: '' };
}

/** Returns a text that is the same for the same kind. */
export function keyOf({ operation, major, status, detail }: Kind): string {
  return [operation, `major ${major}`, status, detail].filter((part) => part !== undefined && part !== '').join(' · ');
}

export function isStream({ headers }: Said): boolean {
  return headers['content-type']?.[0]?.startsWith('text/event-stream') === true;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses JSON. Returns undefined when the text is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
