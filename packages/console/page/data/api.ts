import { signal } from '@preact/signals';

/** An answer of the host that is no success, or the absence of an answer (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The host that the page talks to, once a credential was accepted. */
export interface Session {
  /** `/host/<org>`. */
  readonly own: string;
  /** The end of the path of each mount, such as `webhooks`. */
  readonly mounts: ReadonlySet<string>;
  /** The actions of a portal session. Undefined: the user is an operator. */
  readonly actions?: ReadonlySet<string>;
}

/** The current session. Undefined: no user is signed in. */
export const session = signal<Session | undefined>(undefined);

/** The reason of the last end of a session, for the page on which the user signs in again. */
export const signedOutBecause = signal<string | undefined>(undefined);

/** The credential of a link, until the user signs in with any. Undefined: no link offered one. */
export const offered = signal<string | undefined>(undefined);

/** Offers a credential to the next user who signs in. A session that is under way goes on. */
export function offer(key: string | undefined): void {
  if (session.value === undefined) offered.value = key;
}

// The only place of the credential in use: no storage, no cookie, no URL. It is gone with the tab.
let credential: string | undefined;

/**
 * Tries a credential, and begins a session with it.
 *
 * @throws {ApiError} when the host does not accept it
 */
export async function signIn(key: string): Promise<void> {
  // A browser cannot send other characters, and would tell of a network that fails.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new ApiError(0, 'malformed', MALFORMED);
  const mounts = mountsIn(await call<unknown>('GET', '/.well-known/svc'));
  const status = mounts.get('status');
  if (status === undefined) throw new ApiError(0, 'no_host', 'There is no host at this origin, or it is too old.');
  try {
    await call('GET', status, { key });
  } catch (error) {
    // The credential is valid, and lacks the scope of this one operation.
    if (!(error instanceof ApiError && error.status === 403)) throw error;
  }
  credential = key;
  // Otherwise the form would have it again after the user has signed out.
  offered.value = undefined;
  signedOutBecause.value = undefined;
  session.value = { own: status.replace(/\/status$/, ''), mounts: new Set(mounts.keys()) };
}

/** Begins the session of a code, and returns the view of it. @throws {ApiError} when the host does not exchange it */
export async function exchange(code: string, origin: string | null): Promise<HeldSession> {
  const path = mountsIn(await call<unknown>('GET', '/.well-known/svc')).get('portal');
  if (path === undefined) throw new ApiError(0, 'no_portal', 'The host at this origin serves no portal.');
  const answer = await call<{ token: string; session: HeldSession }>('POST', `${path}/exchange`, {
    body: { code, origin },
  });
  credential = answer.token;
  session.value = { own: path, mounts: new Set(), actions: new Set(answer.session.actions) };
  return answer.session;
}

/** A portal session, as its holder sees it. */
export interface HeldSession {
  readonly actions: readonly string[];
  readonly eventTypes: readonly string[];
  readonly origin?: string;
  readonly theme: { readonly scheme: string; readonly accent: string; readonly corners: string };
  readonly expiresAt: string;
}

/** Returns whether the user may do an action. An operator may try every one: the host decides. */
export function may(action: string): boolean {
  return session.value?.actions?.has(action) !== false;
}

/** Returns whether the page is the portal of a customer. */
export function isPortal(): boolean {
  return session.value?.actions !== undefined;
}

/** Forgets the credential. */
export function signOut(reason?: string): void {
  credential = undefined;
  signedOutBecause.value = reason;
  session.value = undefined;
}

/** Calls an operation below `/host/<org>`. */
export function own<T>(method: Method, path: string, body?: object): Promise<T> {
  return call<T>(method, `${session.value?.own ?? ''}${path}`, { key: credential, body });
}

/** Calls an operation of the protocol, in major 2. */
export function protocol<T>(method: Method, path: string, body?: object): Promise<T> {
  return call<T>(method, path, { key: credential, body });
}

/** Opens an event stream. The answer has a body, or the status 204 when nothing more will follow. */
export async function openStream(path: string, lastId: string | undefined, until: AbortSignal): Promise<Response> {
  const headers = headersFor(credential, {
    accept: 'text/event-stream',
    ...(lastId !== undefined && { 'last-event-id': lastId }),
  });
  const response = await fetch(path, { headers, signal: until, credentials: 'omit', cache: 'no-store' });
  if (!response.ok) throw await failureOf(response, credential);
  return response;
}

/** Reads an answer that is no JSON, or of another major, with the credential of the session. */
export function raw(path: string, major: 1 | 2 = 2): Promise<Response> {
  return send('GET', path, { key: credential, major });
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

interface Asked {
  readonly key?: string | undefined;
  readonly body?: object | undefined;
  readonly major?: 1 | 2;
}

async function call<T>(method: Method, path: string, asked: Asked = {}): Promise<T> {
  const response = await send(method, path, asked);
  // The host describes and tests its answers, so they are taken as they are. A 204 has none.
  const json: T = response.status === 204 ? undefined : await response.json();
  return json;
}

async function send(method: Method, path: string, { key, body, major = 2 }: Asked): Promise<Response> {
  const init: RequestInit = {
    method,
    headers: headersFor(key, {
      'svc-version': String(major),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }),
    // The page sends its credential itself. A cookie of the origin must never be one.
    credentials: 'omit',
    cache: 'no-store',
    signal: AbortSignal.timeout(DEADLINE_MS),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  const response = await fetch(path, init).catch(() => {
    throw new ApiError(0, 'unreachable', 'The host does not answer. It may be restarting, or the network is away.');
  });
  if (!response.ok) throw await failureOf(response, key);
  return response;
}

function headersFor(key: string | undefined, others: Readonly<Record<string, string>>): Record<string, string> {
  return {
    accept: 'application/json',
    'svc-version': '2',
    ...others,
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  };
}

async function failureOf(response: Response, key: string | undefined): Promise<ApiError> {
  const { error, message } = await response.json().catch(() => ({}));
  if (response.status === 401 && key !== undefined && key === credential) {
    signOut('The host no longer accepts this credential. Sign in again.');
  }
  return new ApiError(
    response.status,
    String(error ?? 'error'),
    String(message ?? `The host answered ${response.status}.`),
  );
}

const MALFORMED = 'This is no key or token: it has a space or another character that none has. Copy it again.';
const DEADLINE_MS = 30_000;

/** Reads the mounts of a host from its discovery document: the last segment of the name, and the path. */
export function mountsIn(document: unknown): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const walk = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      const path: unknown = typeof member === 'object' && member !== null && 'path' in member ? member.path : undefined;
      if (typeof path === 'string' && /^\/host\/[^/]+\//.test(path)) found.set(name.replace(/^.*\./, ''), path);
      walk(member);
    }
  };
  walk(document);
  return found;
}
