import { memoryReplayStore, type ReplayStore, type ReplayStoreFull } from '@svc/auth/dpop';
import { type MemoryRateLimiterOptions, memoryRateLimiter, type RateLimiter } from '@svc/auth/rate-limit';
import type { Log } from '@svc/host-kit';
import type { Config } from './config.ts';

/** The records by which requests are judged: used proofs, and counts of requests. */
export interface CallerRecords {
  /** The used DPoP proofs. */
  readonly replays: ReplayStore;
  /** Counts the proofs of each holder of tokens. */
  readonly proofsPerHolder: RateLimiter;
  /** Counts requests by credential. Undefined: they are not limited. */
  readonly rateLimit: RateLimiter | undefined;
  /** Counts refused requests by client. */
  readonly refusals: RateLimiter;
  /** Closes files and connections. */
  close(): Promise<void>;
}

/**
 * Opens the records where the store of the host is. With PostgreSQL, hosts share proofs and counts. With SQLite, proofs
 * are in a file of their own beside the database, so that they wait for none of its transactions.
 */
export async function callerRecords(config: Config, log: Log): Promise<CallerRecords> {
  const { store } = config;
  if (store.startsWith('sqlite:') && takesTokens(config)) return await sqliteRecords(config, log);
  return store === 'memory:' || store.startsWith('sqlite:')
    ? memoryRecords(config, log)
    : await postgresRecords(config, log);
}

/** Makes records in memory, which outlive no restart. */
export function memoryRecords(config: Config, log: Log): CallerRecords {
  return {
    replays: memoryReplayStore({ onFull: tellFull(log) }),
    ...countsInMemory(config),
    proofsPerHolder: memoryRateLimiter(perHolder(IN_MEMORY)),
    close: async () => {},
  };
}

async function sqliteRecords(config: Config, log: Log): Promise<CallerRecords> {
  const { sqliteReplayStore } = await import('@svc/auth/dpop/sqlite');
  const file = `${config.store.slice('sqlite:'.length)}.proofs`;
  const options = { maxEntries: IN_DATABASE, onFull: tellFull(log) };
  const replays = openedAt(file, () => sqliteReplayStore(file, options));
  return {
    replays,
    ...countsInMemory(config),
    proofsPerHolder: memoryRateLimiter(perHolder(IN_DATABASE)),
    close: async () => replays.close(),
  };
}

function openedAt<Opened>(file: string, open: () => Opened): Opened {
  try {
    return open();
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : typeof cause;
    const remedy =
      'Make it a file that the host may write, or remove it: used DPoP proofs of the last minutes pass again then.';
    throw new Error(`${file}: cannot be opened (${problem}). ${remedy}`, { cause });
  }
}

async function postgresRecords(config: Config, log: Log): Promise<CallerRecords> {
  const { default: pg } = await import('pg');
  const { postgresReplayStore } = await import('@svc/auth/dpop/postgres');
  const { postgresRateLimiter } = await import('@svc/auth/rate-limit/postgres');
  const pool = new pg.Pool({ connectionString: config.store, max: CONNECTIONS, keepAlive: true, ...TIME_LIMITS });
  // Without a listener, a connection that breaks would end the process. Its statement rejects anyway.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', () => {});
  const onFailure = (cause: unknown) => {
    const error = cause instanceof Error ? cause.message : typeof cause;
    const message = 'PostgreSQL does not count requests, so this host limits on its own.';
    log({ level: 'error', event: 'rate-limit.store-failed', message, error });
  };
  const limiter = (options: MemoryRateLimiterOptions, table: string) =>
    postgresRateLimiter({ ...options, pool, table, timeoutMs: COUNT_MS, onFailure });
  const options = { maxEntries: IN_DATABASE, table: `${SCHEMA}.dpop_proofs`, onFull: tellFull(log) };
  const replays = postgresReplayStore(pool, options);
  try {
    await pool.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`).catch(throwUnlessMade);
    await replays.migrate();
    return {
      replays,
      proofsPerHolder: memoryRateLimiter(perHolder(IN_DATABASE)),
      rateLimit: config.rateLimit && (await limiter(credentialLimit(config.rateLimit), `${SCHEMA}.rate_limits`)),
      refusals: await limiter(refusalLimit(config), `${SCHEMA}.refusal_limits`),
      close: () => pool.end(),
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** Apart from the records of the host: a backup leaves them out, and no migration knows them. */
const SCHEMA = 'svc_callers';

/** Two hosts that start at the same time may both find no schema, and one of them then cannot create it. */
function throwUnlessMade(error: unknown): void {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== DUPLICATE_SCHEMA && code !== UNIQUE_VIOLATION) throw error;
}

const DUPLICATE_SCHEMA = '42P06';
const UNIQUE_VIOLATION = '23505';

function takesTokens({ oidc, oauth2, introspection, workloadIdentity }: Config): boolean {
  return [oidc, oauth2, introspection, workloadIdentity].some((lane) => lane !== undefined);
}

function countsInMemory(config: Config): Pick<CallerRecords, 'rateLimit' | 'refusals'> {
  const { rateLimit } = config;
  return {
    rateLimit: rateLimit && memoryRateLimiter(credentialLimit(rateLimit)),
    refusals: memoryRateLimiter(refusalLimit(config)),
  };
}

function credentialLimit({ limit, windowSeconds }: NonNullable<Config['rateLimit']>) {
  return { limit, windowSeconds };
}

function refusalLimit({ rateLimit }: Config) {
  const { limit, windowSeconds } = rateLimit?.refusals ?? rateLimit ?? REFUSALS;
  return { limit, windowSeconds };
}

/** A hundred refused requests a second: enough for the mistakes of a client, too few to guess a key. */
const REFUSALS = { limit: 6000, windowSeconds: 60 };

/** A fifth of the store in the longest life of a proof. */
function perHolder(maxEntries: number) {
  return { limit: maxEntries / 5, windowSeconds: 120 };
}

function tellFull(log: Log): (full: ReplayStoreFull) => void {
  return ({ maxEntries }) => {
    const message = 'The store of DPoP proofs is full, so requests with proofs are refused with 503.';
    log({ level: 'error', event: 'dpop.replay-store-full', message, maxEntries });
  };
}

const IN_MEMORY = 100_000;
const IN_DATABASE = 1_000_000;
const CONNECTIONS = 4;
/** Longer than by default: hosts that count apart for a moment allow more than the limit. */
const COUNT_MS = 1000;
const TIME_LIMITS = { connectionTimeoutMillis: 2000, statement_timeout: 2000, query_timeout: 3000 };
