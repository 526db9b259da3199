import type { IncomingMessage } from 'node:http';
import type { Answer, Sent } from './http/answer.ts';
import { type Frame, framesOf } from './http/event-stream.ts';
import { type Connections, codeOf, textOf } from './http/send.ts';
import type { Caller, KeyName } from './keys.ts';
import { KEY_VARIABLES } from './keys.ts';
import { Mismatch } from './mismatch.ts';
import { pause } from './pause.ts';
import type { Major } from './rule.ts';

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

export interface ExactRequest {
  readonly method?: string;
  readonly target: string;
  readonly headers?: Headers;
  readonly body?: string;
  readonly takeLimit?: boolean;
}

/** A header with a list of values is sent once for each of them. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface EventStream {
  readonly answer: Answer;
  /** Reads on until `until` is fulfilled by what was read so far, or the stream ends. */
  read(until?: (seen: StreamSeen) => boolean): Promise<StreamSeen>;
  close(): void;
}

export interface StreamSeen {
  readonly frames: readonly Frame[];
  readonly comments: number;
  /** Whether the host ended it. */
  readonly ended: boolean;
}

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

  function call(method: string, path: string, { headers = {}, query = {}, body, ...rest }: CallOptions = {}) {
    return exchange({ ...requestOf(method, path, headers, query, body), ...rest });
  }

  function requestOf(
    method: string,
    path: string,
    headers: Headers,
    query: NonNullable<CallOptions['query']>,
    body: unknown,
  ): Required<Pick<ExactRequest, 'method' | 'target' | 'headers'>> & Pick<ExactRequest, 'body'> {
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
    };
  }

  async function exchange(request: ExactRequest & Pick<CallOptions, 'extraMs'>): Promise<Answer> {
    for (let again = 0; ; again += 1) {
      const { message, answered } = await open(request);
      const answer = await answered();
      const wait = Number(answer.header('retry-after') ?? 'none');
      const mayWait =
        answer.status === 429 && request.takeLimit !== true && wait <= LONGEST_WAIT_S && again < MOST_WAITS;
      if (!mayWait) return answer;
      message.destroy();
      await pause(wait * 1000, signal);
    }
  }

  /** Sends the request and waits for the head of its answer. */
  async function open({ method = 'GET', target, headers = {}, body, extraMs = 0 }: ExactRequest & CallOptions) {
    const own = headers.Authorization ?? (caller === 'nobody' || key === undefined ? undefined : `Bearer ${key}`);
    const { Authorization: _, ...others } = headers;
    const url = origin + target;
    const sent: Sent = {
      method,
      url,
      headers: Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const)),
      credentials: headers.Authorization === undefined && own !== undefined ? [variableOf(caller)] : [],
      body: typeof body === 'string' ? body : undefined,
    };
    const outgoing = {
      method,
      url,
      headers: Object.fromEntries(
        Object.entries({ ...others, ...(own !== undefined && { Authorization: own }) }).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : [...value],
        ]),
      ),
      body: sent.body,
    };
    const startedAt = performance.now();
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs + extraMs)]);
    const failed = (error: unknown): never => {
      signal.throwIfAborted();
      const seen = deadline.aborted ? `nothing within ${timeoutMs + extraMs} ms` : unanswered(error);
      throw new Mismatch('an answer', seen, answerOf(sent, 0, {}, ''));
    };
    const message = await connections.send(outgoing, deadline).catch(failed);
    return {
      message,
      answered: async () => {
        const text = await textOf(message).catch(failed);
        return answerOf(sent, message.statusCode ?? 0, message.headersDistinct, text, performance.now() - startedAt);
      },
      head: () => answerOf(sent, message.statusCode ?? 0, message.headersDistinct, '', performance.now() - startedAt),
    };
  }

  function answerOf(sent: Sent, status: number, headers: NodeJS.Dict<string[]>, text: string, took = 0): Answer {
    return { sent, major, status, text, took, header: (name) => headers[name.toLowerCase()]?.join(', ') };
  }

  return {
    major,
    caller,
    call,
    get: (path, given) => call('GET', path, given),
    post: (path, body, given) => call('POST', path, { ...given, ...(body !== undefined && { body }) }),
    put: (path, body, given) => call('PUT', path, { ...given, body }),
    delete: (path, given) => call('DELETE', path, given),
    exactly: exchange,
    async stream(path, { headers = {}, query = {}, extraMs = STREAM_MS } = {}) {
      const accepting = { Accept: 'text/event-stream', ...headers };
      const { message, answered, head } = await open({
        ...requestOf('GET', path, accepting, query, undefined),
        extraMs,
      });
      const isStream = message.headers['content-type']?.startsWith('text/event-stream') === true;
      return message.statusCode === 200 && isStream ? eventStream(message, head()) : answered();
    },
  };
}

const LONGEST_WAIT_S = 60;
const MOST_WAITS = 3;
/** A stream is open for as long as its run goes on. */
const STREAM_MS = 60_000;

function eventStream(message: IncomingMessage, answer: Answer): EventStream {
  const source = framesOf(message);
  const frames: Frame[] = [];
  const seen = { frames, comments: 0, ended: false };
  return {
    answer,
    async read(until = () => false) {
      while (!seen.ended && !until(seen)) {
        const next = await source.next().catch((error: unknown) => {
          throw new Mismatch('the stream to go on, or to end in order', unanswered(error), answer);
        });
        if (next.done === true) seen.ended = true;
        else if ('comment' in next.value) seen.comments += 1;
        else frames.push(next.value);
      }
      return seen;
    },
    close: () => message.destroy(),
  };
}

function variableOf(caller: Caller): string {
  return caller === 'nobody' ? '' : KEY_VARIABLES[caller satisfies KeyName];
}

function unanswered(error: unknown): string {
  const code = codeOf(error);
  return `a connection that failed (${code ?? (error instanceof Error ? error.message : String(error))})`;
}
