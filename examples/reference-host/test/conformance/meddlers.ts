import type { KeyName } from '@svc/conformance';
import { KEYS } from './conforming-config.ts';
import { type Answered, type Asked, type Meddler, textIn } from './faulty-proxy.ts';

/** Requests of one operation, by `<METHOD> <target>`. */
export const DISCOVERY = /^GET \/\.well-known\/svc$/;
export const OPENAPI = /^GET (\/v1)?\/openapi\.json$/;
export const CREATE = /^POST (\/v1)?\/runs$/;
export const LIST = /^GET \/runs(\?|$)/;
export const RUN = /^GET (\/v1)?\/runs\/[^/:?]+$/;
export const POLL = /^GET (\/v1)?\/runs\/[^/?]+\/events\/poll/;
export const STREAM = /^GET (\/v1)?\/runs\/[^/?]+\/events(\?|$)/;
export const ARTIFACT = /^GET (\/v1)?\/runs\/[^/?]+\/artifacts\//;
export const ANNOTATE = /^POST (\/v1)?\/runs\/[^/?]+\/annotations$/;
export const ANNOTATIONS = /^GET (\/v1)?\/runs\/[^/?]+\/annotations$/;
export const EFFECTS = /^GET \/runs\/[^/?]+\/effects$/;
export const CANCEL = /^POST (\/v1)?\/runs\/[^/?]+\/cancel$/;
export const BULK = /^POST (\/v1)?\/runs:bulk-cancel$/;
export const PAUSE = /^POST (\/v1)?\/runs\/[^/?]+:pause$/;
export const MOVE = /^POST (\/v1)?\/runs\/[^/?]+:(pause|resume)$/;
export const FORK = /^POST (\/v1)?\/runs\/[^/?]+:fork$/;
export const INTERRUPT = /^POST (\/v1)?\/runs\/[^/?]+\/interrupts\//;
export const TOKEN = /^(GET|POST) (\/v1)?\/interrupts\//;
export const REGISTER = /^POST (\/v1)?\/webhooks$/;
export const UNREGISTER = /^DELETE (\/v1)?\/webhooks\/[^/]+$/;
export const DEAD_LETTERS = /^GET (\/v1)?\/webhooks\/[^/]+\/dead-letters/;
export const AUDIT = /^GET (\/v1)?\/audit\/verify/;
export const FILES = /^[A-Z]+ \/v1\/host\/workspace\/files/;
export const EVERYTHING = /^/;

export type Json = Record<string, unknown>;

function fits(pattern: RegExp, { method, target }: Asked): boolean {
  return pattern.test(`${method} ${target}`);
}

/** Changes requests. */
export function asking(pattern: RegExp, change: (asked: Asked) => Asked): Meddler {
  return (asked, pass) => pass(fits(pattern, asked) ? change(asked) : asked);
}

/** Changes responses. */
export function answering(
  pattern: RegExp,
  change: (answered: Answered, asked: Asked) => Answered | Promise<Answered>,
): Meddler {
  return async (asked, pass) => {
    const answered = await pass(asked);
    return fits(pattern, asked) ? change(answered, asked) : answered;
  };
}

/** Answers without passing the request on. */
export function instead(
  pattern: RegExp,
  status: number,
  body: Json = {},
  headers: Record<string, string> = {},
): Meddler {
  return async (asked, pass) => (fits(pattern, asked) ? refusal(status, body, asked, headers) : pass(asked));
}

/** Makes a response with `SVC-Version` of the requested major. */
export function refusal(status: number, body: Json, asked: Asked, headers: Record<string, string> = {}): Answered {
  const version = asked.target.startsWith('/v1') ? '1.1' : '2.0';
  const text = status === 204 || status === 304 ? '' : JSON.stringify(body);
  return { status, headers: { 'content-type': 'application/json', 'svc-version': version, ...headers }, body: text };
}

/** Replaces one of the statuses `from` by `to`, and the body by an error with `code` if given. */
export function status(pattern: RegExp, from: number | readonly number[], to: number, code?: string): Meddler {
  return answering(pattern, async (answered) => {
    if (![from].flat().includes(answered.status)) return answered;
    if (code === undefined) return { ...answered, status: to };
    return { ...answered, status: to, body: JSON.stringify({ error: code, message: 'Changed on the way.' }) };
  });
}

/** Sets a header of the response. Undefined removes it. */
export function header(pattern: RegExp, name: string, value: string | undefined): Meddler {
  return answering(pattern, (answered) => ({ ...answered, headers: { ...answered.headers, [name]: value } }));
}

/** Changes the text of the response. */
export function text(pattern: RegExp, change: (text: string, asked: Asked) => string): Meddler {
  return answering(pattern, async (answered, asked) => ({ ...answered, body: change(await textIn(answered), asked) }));
}

/** Changes the JSON object of the response, if it has one. */
export function json(pattern: RegExp, ...changes: readonly ((body: Json, asked: Asked) => Json)[]): Meddler {
  return text(pattern, (before, asked) => {
    if (!before.startsWith('{')) return before;
    return JSON.stringify(changes.reduce((body, change) => change(body, asked), JSON.parse(before) as Json));
  });
}

/** Sets a member; undefined removes it. A path is names joined by dots, with `*` for every item of a list. */
export function set(path: string, value: unknown): (body: Json) => Json {
  return (body) => changed(body, path.split('.'), () => value) as Json;
}

/** Computes a member from its old value. */
export function make(path: string, change: (value: unknown) => unknown): (body: Json) => Json {
  return (body) => changed(body, path.split('.'), change) as Json;
}

function changed(value: unknown, [name, ...rest]: readonly string[], change: (value: unknown) => unknown): unknown {
  if (name === undefined) return change(value);
  if (name === '*') return Array.isArray(value) ? value.map((item) => changed(item, rest, change)) : value;
  const record = typeof value === 'object' && value !== null ? (value as Json) : {};
  if (rest.length > 0 && record[name] === undefined && name !== 'details') return value;
  return { ...record, [name]: changed(record[name], rest, change) };
}

/** Changes the JSON object of the request, if it has one. */
export function sending(pattern: RegExp, ...changes: readonly ((body: Json) => Json)[]): Meddler {
  return asking(pattern, (asked) => {
    if (!asked.body.startsWith('{')) return asked;
    try {
      const before = JSON.parse(asked.body) as Json;
      return { ...asked, body: JSON.stringify(changes.reduce((body, change) => change(body), before)) };
    } catch {
      return asked;
    }
  });
}

/** Sets a header of the request. Undefined removes it. */
export function sendingHeader(pattern: RegExp, name: string, value: string | undefined): Meddler {
  return asking(pattern, (asked) => ({ ...asked, headers: { ...asked.headers, [name]: value } }));
}

/** Replaces the key of one caller by that of another. */
export function mistaking(caller: KeyName | 'nobody', other: KeyName, pattern: RegExp = EVERYTHING): Meddler {
  return asking(pattern, (asked) => {
    const [given] = valuesOf(asked, 'authorization');
    const isCaller = caller === 'nobody' ? given === undefined : given === `Bearer ${KEYS[caller]}`;
    return isCaller ? { ...asked, headers: { ...asked.headers, authorization: `Bearer ${KEYS[other]}` } } : asked;
  });
}

/** Sets a parameter of the query. Undefined removes it. */
export function query(pattern: RegExp, name: string, value?: string): Meddler {
  return asking(pattern, (asked) => {
    const url = new URL(asked.target, 'http://host');
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
    // The path keeps its spelling: `URL` would normalise it.
    const path = asked.target.split('?', 1)[0] ?? '';
    return { ...asked, target: path + url.search };
  });
}

/** Applies meddlers in order; the first sees the request first. */
export function all(...meddlers: readonly Meddler[]): Meddler {
  const none: Meddler = (asked, pass) => pass(asked);
  return meddlers.reduceRight<Meddler>(
    (inner, outer) => (asked, pass, sign) => outer(asked, (next) => inner(next, pass, sign), sign),
    none,
  );
}

export function valuesOf({ headers }: Pick<Asked, 'headers'>, name: string): readonly string[] {
  return [headers[name] ?? []].flat();
}

export function isBy(asked: Asked, caller: KeyName): boolean {
  return valuesOf(asked, 'authorization')[0] === `Bearer ${KEYS[caller]}`;
}
