import type { CryptoKey } from 'jose';
import { clockOf } from '../clock-of.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { boundedBytes } from './bounded-bytes.ts';
import { type KeySource, usableKeys, type WantedKey } from './key-set.ts';
import { isObject, type JsonObject, parseObject } from './strict-json.ts';

/** Options of `remoteKeys`. */
export interface RemoteKeysOptions {
  /** URL of the issuer. Its metadata gives the URL of its keys. */
  readonly issuer: string;
  /**
   * URL of the keys, which may be on another origin. With it the metadata is not fetched. Default: from the metadata.
   */
  readonly jwksUri?: string | undefined;
  /** Sends a GET. Pass a guarded fetch: the metadata of an issuer determines the next URL. */
  readonly fetch: KeyFetch;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Returns a number from 0 to 1, which spreads retries. Default `Math.random`. */
  readonly random?: () => number;
  /** Age of keys, in seconds, at which they are fetched again, at least 60. Default 600. */
  readonly maxAgeSeconds?: number;
  /** Further seconds for which keys stay in use while the issuer is unreachable. Default 0, at most 3600. */
  readonly staleSeconds?: number;
  /** Time limit of fetching metadata and keys together, in milliseconds. Default 5000. */
  readonly timeoutMs?: number;
}

const REMOTE_KEYS_OPTIONS: OptionNames<RemoteKeysOptions> = {
  issuer: true,
  jwksUri: true,
  fetch: true,
  now: true,
  random: true,
  maxAgeSeconds: true,
  staleSeconds: true,
  timeoutMs: true,
};

/** The part of `fetch` that is used. */
export type KeyFetch = (
  url: string,
  init: {
    /** Request headers. */
    readonly headers: Readonly<Record<string, string>>;
    /** Redirects are not followed. */
    readonly redirect: 'manual';
    /** Aborts at the time limit. */
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

/**
 * Makes a key source of the keys that an issuer publishes. Keys are fetched at first use, again in the background at 80
 * % of their maximum age, and at most every 30 s for an unknown key id. While the issuer is unreachable it is queried
 * at most every 5 s, by one request at a time.
 *
 * @throws {TypeError} when an option is invalid
 * @example
 * const keys = remoteKeys({ issuer: 'https://idp.example.com', fetch: guardedFetch() });
 * @see RFC 7517, section 5; RFC 8414, section 3; OpenID Connect Discovery 1.0, section 4
 */
export function remoteKeys(options: RemoteKeysOptions): KeySource {
  requireKnown('remoteKeys', options, REMOTE_KEYS_OPTIONS);
  const { issuer, jwksUri, maxAgeSeconds = 600, staleSeconds = 0 } = options;
  if (!isKeyUrl(issuer)) throw new TypeError(`remoteKeys: issuer must be ${KEY_URL_RULE}.`);
  if (jwksUri !== undefined && !isKeyUrl(jwksUri)) throw new TypeError(`remoteKeys: jwksUri must be ${KEY_URL_RULE}.`);
  if (!(maxAgeSeconds >= 60)) throw new TypeError('remoteKeys: maxAgeSeconds must be at least 60.');
  if (!(staleSeconds >= 0 && staleSeconds <= 3600)) throw new TypeError('remoteKeys: staleSeconds must be 0 to 3600.');
  const keys = new RemoteKeys(
    { ...options, now: clockOf('remoteKeys', options.now) },
    maxAgeSeconds * 1000,
    staleSeconds * 1000,
  );
  return { find: (wanted) => keys.find(wanted) };
}

interface RemoteKeysParts extends RemoteKeysOptions {
  readonly now: () => number;
}

class RemoteKeys {
  readonly #options: RemoteKeysParts;
  readonly #maxAgeMs: number;
  readonly #staleMs: number;
  /** The keys of the last successful fetch, and its time. */
  #known: { readonly keys: KeySource; readonly at: number } | undefined;
  /** The fetch under way, which all callers share. */
  #pending: Promise<void> | undefined;
  /** The last failed fetch. No other is tried before `until`. */
  #failure: { readonly cause: unknown; readonly until: number } | undefined;

  constructor(options: RemoteKeysParts, maxAgeMs: number, staleMs: number) {
    this.#options = options;
    this.#maxAgeMs = maxAgeMs;
    this.#staleMs = staleMs;
  }

  /** Answers at once with a known key that is not to be fetched again yet. */
  find(wanted: WantedKey): ReturnType<KeySource['find']> {
    const age = this.#age();
    const known = age > this.#maxAgeMs * 0.8 ? undefined : this.#findKnown(wanted);
    return known === undefined || known instanceof Promise ? this.#findLater(wanted, age) : known;
  }

  async #findLater(wanted: WantedKey, age: number): Promise<CryptoKey | undefined> {
    if (age > this.#maxAgeMs) await this.#refreshOrStale(age);
    else if (age > this.#maxAgeMs * 0.8) this.#refreshInBackground();
    return (await this.#findKnown(wanted)) ?? (await this.#findNew(wanted));
  }

  /** Returns the age of the keys in ms. After the clock was set back they count as old, never as young. */
  #age(): number {
    const age = this.#known === undefined ? Number.POSITIVE_INFINITY : this.#options.now() - this.#known.at;
    return age >= 0 ? age : Number.POSITIVE_INFINITY;
  }

  #findKnown(wanted: WantedKey): ReturnType<KeySource['find']> {
    return this.#known?.keys.find(wanted);
  }

  /** An unknown key id may be of a new key, so the keys are fetched again. */
  async #findNew(wanted: WantedKey): Promise<CryptoKey | undefined> {
    if (wanted.keyId === undefined || this.#age() < COOL_DOWN_MS || this.#isFailing()) return undefined;
    await this.#refresh().catch(() => undefined);
    return this.#findKnown(wanted);
  }

  /** A failure is an outage only when the keys are also too old to stay in use. */
  async #refreshOrStale(age: number): Promise<void> {
    try {
      await this.#refresh();
    } catch (cause) {
      if (age > this.#maxAgeMs + this.#staleMs) throw cause;
    }
  }

  #refreshInBackground(): void {
    if (!this.#isFailing()) this.#refresh().catch(() => undefined);
  }

  #isFailing(): boolean {
    const wait = this.#failure === undefined ? 0 : this.#failure.until - this.#options.now();
    return wait > 0 && wait <= 2 * FAILURE_COOL_DOWN_MS;
  }

  #refresh(): Promise<void> {
    if (this.#isFailing()) return Promise.reject(this.#failure?.cause);
    this.#pending ??= this.#fetchKeys().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #fetchKeys(): Promise<void> {
    const { issuer, now, random = Math.random } = this.#options;
    try {
      this.#known = { keys: await publishedKeys(this.#options), at: now() };
      this.#failure = undefined;
    } catch (error) {
      const problem = error instanceof Error ? error.message : typeof error;
      // For the log of the operator, who may have several issuers.
      const cause = new Error(`The keys of ${issuer} cannot be fetched. ${problem}`, { cause: error });
      this.#failure = { cause, until: now() + FAILURE_COOL_DOWN_MS * (0.8 + 0.4 * random()) };
      throw cause;
    }
  }
}

async function publishedKeys({ issuer, jwksUri, fetch, timeoutMs = 5000 }: RemoteKeysOptions): Promise<KeySource> {
  const signal = AbortSignal.timeout(timeoutMs);
  const url = jwksUri ?? (await keysUrlOf(issuer, fetch, signal));
  const keys = usableKeys(await getJson(url, fetch, signal));
  if (keys !== undefined) return keys;
  throw new Error('The key set of the issuer must be 1 to 100 JWKs, at least one of them a public signature key.');
}

const COOL_DOWN_MS = 30_000;
const FAILURE_COOL_DOWN_MS = 5000;
const MAX_BYTES = 512 * 1024;

const KEY_URL_RULE = 'an https URL, or an http URL on this machine, without credentials, query or fragment';

/** Returns whether keys may be fetched from a URL. Over plain HTTP anyone on the network could replace them. */
export function isKeyUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s?#@\\]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || hostname === '127.0.0.1' || hostname === '[::1]' || hostname === 'localhost';
}

async function keysUrlOf(issuer: string, fetch: KeyFetch, signal: AbortSignal): Promise<string> {
  const metadata = await metadataOf(issuer, fetch, signal);
  if (metadata.issuer !== issuer)
    throw new Error(
      'The issuer in the metadata differs from the option issuer. Pass the issuer that the metadata names.',
    );
  const { jwks_uri: url } = metadata;
  if (typeof url !== 'string' || !isKeyUrl(url))
    throw new Error(`The jwks_uri in the metadata must be ${KEY_URL_RULE}.`);
  if (new URL(url).origin !== new URL(issuer).origin) {
    throw new Error('The jwks_uri in the metadata is on another origin than the issuer. Set jwksUri to allow it.');
  }
  return url;
}

/** OpenID Connect puts the well-known path after the issuer's path, RFC 8414 before it. */
async function metadataOf(issuer: string, fetch: KeyFetch, signal: AbortSignal): Promise<JsonObject> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  try {
    return await getJson(`${origin}${path}/.well-known/openid-configuration`, fetch, signal);
  } catch (error) {
    if (!(error instanceof NotThere)) throw error;
    return await getJson(`${origin}/.well-known/oauth-authorization-server${path}`, fetch, signal);
  }
}

class NotThere extends Error {}

async function getJson(url: string, fetch: KeyFetch, signal: AbortSignal): Promise<JsonObject> {
  const response = await fetch(url, { headers: { accept: 'application/json' }, redirect: 'manual', signal });
  if (response.status !== 200) {
    await response.body?.cancel();
    const message = `The issuer answered with status ${response.status}.`;
    throw response.status === 404 ? new NotThere(message) : new Error(message);
  }
  const object = parseObject(await boundedBytes(response, MAX_BYTES));
  if (!isObject(object)) throw new Error('The answer of the issuer is not a JSON object.');
  return object;
}
