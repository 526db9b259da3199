import type { IncomingMessage } from 'node:http';
import { type EventStream, eventStream } from './event-stream.ts';
import type { Answer, Sent } from './http/answer.ts';
import { type Connections, textOf, unanswered } from './http/send.ts';
import type { Caller } from './keys.ts';
import { KEY_VARIABLES } from './keys.ts';
import { Mismatch } from './mismatch.ts';
import type { Major } from './rule.ts';
import { sleep } from './sleep.ts';

/** The operations of one major, called by one caller. Paths are those of the manifest: the major says what stands before them. */
export interface Api {
  readonly major: Major;
  readonly caller: Caller;
  get(path: string, options?: CallOptions): Promise<Answer>;
  post(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  put(path: string, body: unknown, options?: CallOptions): Promise<Answer>;
  delete(path: string, options?: CallOptions): Promise<Answer>;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** A request of which nothing is completed but the credential. */
  exactly(request: ExactRequest): Promise<Answer>;
  /** Opens an event stream, or tells what was answered instead. */
  stream(path: string, options?: CallOptions): Promise<EventStream | Answer>;
}

export interface CallOptions {
  readonly headers?: Headers;
  readonly query?: Readonly<Record<string, string | number>>;
  /** A value to be sent as JSON; a text is sent as it is. */
  readonly body?: unknown;
  /** How much longer than others this request may take, in ms. */
  readonly extraMs?: number;
  /** Take a 429 for an answer, instead of calling again when it says. */
  readonly takeLimit?: boolean;
}

export interface ExactRequest extends Pick<CallOptions, 'headers' | 'extraMs' | 'takeLimit'> {
  readonly method?: string;
  readonly target: string;
  readonly body?: string;
}

/** A header with a list of values is sent once for each of them. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface ApiOptions {
  readonly origin: string;
  readonly major: Major;
  readonly caller: Caller;
  readonly key: string | undefined;
  readonly connections: Connections;
  readonly timeoutMs: number;
  /** Ends whatever is under way. */
  readonly signal: AbortSignal;
}

export const DISCOVERY_PATH = '/.well-known/svc';

export function apiOf(options: ApiOptions): Api {
  const { origin, major, caller, key, connections, timeoutMs, signal } = options;

  /** What stands before the path and which headers go with it is the major's. */
  function requestOf(method: string, path: string, options: CallOptions): ExactRequest {
    const { headers = {}, query = {}, body, extraMs = 0, takeLimit = false } = options;
    const isVersioned = major === 2 || path === DISCOVERY_PATH;
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
    return {
      method,
      target: `${isVersioned ? '' : '/v1'}${path}${search === '' ? '' : `?${search}`}`,
      headers: {
        ...(isVersioned && { 'SVC-Version': String(major) }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      extraMs,
      takeLimit,
    };
  }

  /** Sends a request, and again when the host says that there were too many. */
  async function exchange(request: ExactRequest): Promise<Answer> {
    for (let again = 0; ; again += 1) {
      const { answered } = await open(request);
      const answer = await answered();
      const wait = Number(answer.header('retry-after') ?? 'none');
      const mayWait =
        answer.status === 429 && request.takeLimit !== true && wait <= LONGEST_WAIT_S && again < MOST_WAITS;
      if (!mayWait) return answer;
      await sleep(wait * 1000, signal);
    }
  }

  /** Sends a request and waits for the head of its answer. */
  async function open({ method = 'GET', target, headers: given = {}, body, extraMs = 0 }: ExactRequest) {
    const isOwn = given.Authorization === undefined && caller !== 'nobody' && key !== undefined;
    const url = origin + target;
    const sent: Sent = {
      method,
      url,
      headers: Object.entries(given).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const)),
      credentials: isOwn ? [KEY_VARIABLES[caller]] : [],
      body,
    };
    const headers = { ...given, ...(isOwn && { Authorization: `Bearer ${key}` }) };
    const startedAt = performance.now();
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs + extraMs)]);
    const answerOf = ({ statusCode = 0, headersDistinct }: IncomingMessage, text: string): Answer => ({
      sent,
      major,
      status: statusCode,
      header: (name) => headersDistinct[name.toLowerCase()]?.join(', '),
      text,
      took: performance.now() - startedAt,
    });
    const failed = (error: unknown): never => {
      signal.throwIfAborted();
      const seen = deadline.aborted ? `nothing within ${timeoutMs + extraMs} ms` : unanswered(error);
      const none = { sent, major, status: 0, header: () => undefined, text: '', took: 0 };
      throw new Mismatch('an answer', seen, none);
    };
    const message = await connections.send({ method, url, headers, body }, deadline).catch(failed);
    return {
      message,
      head: () => answerOf(message, ''),
      answered: async () => answerOf(message, await textOf(message).catch(failed)),
    };
  }

  const call: Api['call'] = (method, path, options = {}) => exchange(requestOf(method, path, options));

  return {
    major,
    caller,
    call,
    get: (path, options) => call('GET', path, options),
    post: (path, body, options) => call('POST', path, { ...options, body }),
    put: (path, body, options) => call('PUT', path, { ...options, body }),
    delete: (path, options) => call('DELETE', path, options),
    exactly: exchange,
    async stream(path, { headers, extraMs = STREAM_MS, ...options } = {}) {
      const accepting = { Accept: 'text/event-stream', ...headers };
      const request = requestOf('GET', path, { ...options, headers: accepting, extraMs });
      const { message, answered, head } = await open(request);
      const isStream = message.headers['content-type']?.startsWith('text/event-stream') === true;
      return message.statusCode === 200 && isStream ? eventStream(message, head()) : answered();
    },
  };
}

const LONGEST_WAIT_S = 60;
const MOST_WAITS = 3;
/** A stream is open for as long as its run goes on. */
const STREAM_MS = 60_000;
