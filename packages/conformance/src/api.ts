import type { IncomingMessage } from 'node:http';
import { type EventStream, eventStream } from './event-stream.ts';
import type { Answer, Sent } from './http/answer.ts';
import { type Connections, textOf, unanswered } from './http/send.ts';
import type { Caller } from './keys.ts';
import { KEY_VARIABLES } from './keys.ts';
import { Mismatch } from './mismatch.ts';
import type { Major } from './rule.ts';
import { sleep } from './sleep.ts';
import type { Witness } from './witness.ts';

/**
 * HTTP client for one major with one caller. Paths have no `/v1`: the client adds it for major 1, and `SVC-Version` for
 * major 2. Every method throws a `Mismatch` when the host does not respond.
 */
export interface Api {
  readonly major: Major;
  readonly caller: Caller;
  get(path: string, options?: CallOptions): Promise<Answer>;
  post(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  put(path: string, body: unknown, options?: CallOptions): Promise<Answer>;
  delete(path: string, options?: CallOptions): Promise<Answer>;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Sends a request as it is, with the credential of the caller alone added. */
  exactly(request: ExactRequest): Promise<Answer>;
  /** Opens an event stream. Returns the answer when it is not a stream. */
  stream(path: string, options?: CallOptions): Promise<EventStream | Answer>;
}

/** Options of one request. */
export interface CallOptions {
  readonly headers?: Headers;
  readonly query?: Readonly<Record<string, string | number>>;
  /** Value that is sent as JSON. A string is sent as it is. */
  readonly body?: unknown;
  /** Time that this request may take beyond the time limit of all requests, in ms. Default: 0. */
  readonly extraMs?: number;
  /** Returns a 429. By default the request is repeated up to three times, after the time in `Retry-After`. */
  readonly returns429?: boolean;
}

/** A request that the client does not complete. */
export interface ExactRequest extends Pick<CallOptions, 'headers' | 'extraMs' | 'returns429'> {
  /** Default: `GET`. */
  readonly method?: string;
  /** Path and query, sent without normalisation. */
  readonly target: string;
  readonly body?: string;
}

/** Headers of a request. A header with several values is sent once for each of them. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Options of `apiOf`. */
export interface ApiOptions {
  readonly origin: string;
  readonly major: Major;
  readonly caller: Caller;
  readonly key: string | undefined;
  readonly connections: Connections;
  /** Time limit of one request, in ms. */
  readonly timeoutMs: number;
  /** Ends all requests that are in progress. */
  readonly signal: AbortSignal;
  readonly witness: Pick<Witness, 'saw'>;
}

export const DISCOVERY_PATH = '/.well-known/svc';

export function apiOf(options: ApiOptions): Api {
  const { major, caller } = options;
  const call: Api['call'] = (method, path, more = {}) => exchange(options, requestOf(major, method, path, more));

  return {
    major,
    caller,
    call,
    get: (path, more) => call('GET', path, more),
    post: (path, body, more) => call('POST', path, { ...more, body }),
    put: (path, body, more) => call('PUT', path, { ...more, body }),
    delete: (path, more) => call('DELETE', path, more),
    exactly: (request) => exchange(options, request),
    async stream(path, { headers, extraMs = STREAM_MS, ...more } = {}) {
      const accepting = { Accept: 'text/event-stream', ...headers };
      const request = requestOf(major, 'GET', path, { ...more, headers: accepting, extraMs });
      const { message, head, whole } = await open(options, request);
      const isStream = message.headers['content-type']?.startsWith('text/event-stream') === true;
      if (message.statusCode !== 200 || !isStream) return whole();
      const answer = head();
      options.witness.saw(answer);
      // Each message counts as an answer of its own: its text is the event.
      return eventStream(message, answer, ({ data }) => options.witness.saw({ ...answer, text: data }));
    },
  };
}

const LONGEST_WAIT_S = 60;
const MOST_WAITS = 3;
/** A stream stays open until its run ends. */
const STREAM_MS = 60_000;

/** Completes a request with the path prefix and the headers of the major. */
function requestOf(major: Major, method: string, path: string, options: CallOptions): ExactRequest {
  const { headers = {}, query = {}, body, extraMs = 0, returns429 = false } = options;
  const isUnprefixed = major === 2 || path === DISCOVERY_PATH;
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  return {
    method,
    target: `${isUnprefixed ? '' : '/v1'}${path}${search === '' ? '' : `?${search}`}`,
    headers: {
      ...(isUnprefixed && { 'SVC-Version': String(major) }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    extraMs,
    returns429,
  };
}

/** Sends a request and reads the whole answer. After a 429 it waits for `Retry-After` and sends the request again. */
async function exchange(options: ApiOptions, request: ExactRequest): Promise<Answer> {
  for (let waits = 0; ; waits += 1) {
    const { whole } = await open(options, request);
    const answer = await whole();
    const wait = Number(answer.header('retry-after') ?? 'none');
    const mayWait =
      answer.status === 429 && request.returns429 !== true && wait <= LONGEST_WAIT_S && waits < MOST_WAITS;
    if (!mayWait) return answer;
    await sleep(wait * 1000, options.signal);
  }
}

/** An answer whose body has not been read. */
interface Opened {
  readonly message: IncomingMessage;
  /** The answer with an empty body. */
  head(): Answer;
  /** Reads the body. */
  whole(): Promise<Answer>;
}

/** @throws {Mismatch} when the host does not respond in time */
async function open(options: ApiOptions, request: ExactRequest): Promise<Opened> {
  const { origin, major, caller, key, connections, timeoutMs, signal, witness } = options;
  const { method = 'GET', target, headers: given = {}, body, extraMs = 0 } = request;
  const hasKey = given.Authorization === undefined && caller !== 'nobody' && key !== undefined;
  const url = origin + target;
  const sent: Sent = {
    method,
    url,
    headers: Object.entries(given).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const)),
    credentials: hasKey ? [KEY_VARIABLES[caller]] : [],
    body,
  };
  const headers = { ...given, ...(hasKey && { Authorization: `Bearer ${key}` }) };
  const startedAt = performance.now();
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs + extraMs)]);
  const answerOf = ({ statusCode = 0, headersDistinct }: IncomingMessage, text: string): Answer => ({
    sent,
    major,
    status: statusCode,
    header: (name) => headersDistinct[name.toLowerCase()]?.join(', '),
    text,
    durationMs: performance.now() - startedAt,
  });
  const failed = (error: unknown): never => {
    signal.throwIfAborted();
    const seen = deadline.aborted ? `no response within ${timeoutMs + extraMs} ms` : unanswered(error);
    throw new Mismatch('a response', seen, {
      sent,
      major,
      status: 0,
      header: () => undefined,
      text: '',
      durationMs: 0,
    });
  };
  const message = await connections.send({ method, url, headers, body }, deadline).catch(failed);
  return {
    message,
    head: () => answerOf(message, ''),
    whole: async () => {
      const answer = answerOf(message, await textOf(message).catch(failed));
      witness.saw(answer);
      return answer;
    },
  };
}
