import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { ApiKeyFeed, FollowedFeed, FollowOptions } from '../../ports/api-keys.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { integer, optional } from '../sql/row.ts';
import type { Database } from './database.ts';

export interface ApiKeyFeedOptions {
  readonly url: string;
  readonly schema: string;
  readonly database: Database;
}

/**
 * Announces a change with the commit, under the next number. The lock on the row makes changes commit in the order of their
 * numbers, which is that of their notifications.
 *
 * @param lookup of the changed key, or `ACCESS_CHANGE`
 * @param subject id of the key, or the lookup of the access
 */
export function announce(
  database: Database,
  { schema, lookup, subject }: { readonly schema: string; readonly lookup: string; readonly subject: string },
  transaction: Transaction,
): void {
  const text = `WITH next AS (UPDATE key_feed SET epoch = epoch + 1 RETURNING epoch)
    SELECT pg_notify(${database.literal(keyChannel(schema))}, epoch || ${database.literal(` ${lookup} ${subject}`)}) FROM next`;
  database.withCommit(transaction, 'key-feed', text);
}

/** The channel on which changes of keys are announced. */
function keyChannel(schema: string): string {
  return `svc_keys_${schema}`;
}

/**
 * The feed of changed keys, over LISTEN and NOTIFY. Each host stores the number of the last change that it knows, under a
 * lease of 5 s. A change is confirmed when no host with a lease knows less. The database measures the leases, and a host
 * counts its own from before it asked for it, so that it ends there first.
 */
export function apiKeyFeed({ url, schema, database }: ApiKeyFeedOptions): ApiKeyFeed {
  let confirming: Confirmations | undefined;
  let shared: { readonly following: Following; readonly followers: Set<FollowOptions> } | undefined;
  return {
    follow: (options) => join(options),
    confirmed(clock) {
      confirming ??= new Confirmations(database);
      return confirming.next(clock);
    },
  };

  /** All followers of one host share a connection and a lease. */
  function join(options: FollowOptions): FollowedFeed {
    shared ??= begin(options.clock);
    const { following, followers } = shared;
    followers.add(options);
    return {
      isCurrent: () => followers.has(options) && following.isCurrent(),
      async stop() {
        if (!followers.delete(options) || followers.size > 0) return;
        shared = undefined;
        await following.stop();
      },
    };
  }

  function begin(clock: Clock) {
    const followers = new Set<FollowOptions>();
    const following = new Following(url, schema, {
      clock,
      changed: (change) => {
        for (const follower of followers) follower.changed(change);
      },
      failed: (cause) => {
        for (const follower of followers) follower.failed(cause);
      },
    });
    return { following, followers };
  }
}

const LEASE_MS = 5000;
const RENEW_MS = 1500;
/** The host counts its lease shorter than the database does, for clocks that do not run at the same speed. */
const MARGIN_MS = 250;
const RECONNECT_MS = 500;
const POLL_MS = 3;
const LONGEST_CONFIRMATION_MS = 2 * LEASE_MS;

const REGISTER = `INSERT INTO key_hosts (host, known, lease_until)
  SELECT $1, epoch, clock_timestamp() + $2 * interval '1 millisecond' FROM key_feed
  ON CONFLICT (host) DO UPDATE SET known = excluded.known, lease_until = excluded.lease_until`;
/**
 * Not durable, so that no host waits for the disk of the database: a crash of the server forgets it, and the change waits
 * until the host says it again. The end of a lease never is what is forgotten.
 */
const KNOW = `WITH local AS (SELECT set_config('synchronous_commit', 'off', true))
  UPDATE key_hosts SET known = greatest(known, $2) FROM local WHERE host = $1 AND lease_until > clock_timestamp()`;
const RENEW = `UPDATE key_hosts SET known = greatest(known, $2), lease_until = clock_timestamp() + $3 * interval '1 millisecond'
  WHERE host = $1 AND lease_until > clock_timestamp()`;
const LEAVE = 'DELETE FROM key_hosts WHERE host = $1';
const FORGET = `DELETE FROM key_hosts WHERE lease_until < clock_timestamp() - interval '1 hour'`;
const PROGRESS = {
  name: 'key-feed-progress',
  text: `SELECT (SELECT epoch FROM key_feed) AS epoch,
    (SELECT min(known) FROM key_hosts WHERE lease_until > clock_timestamp()) AS known`,
};

/** One connection that listens, and renews the lease of this host. */
class Following implements FollowedFeed {
  readonly #url: string;
  readonly #schema: string;
  readonly #options: FollowOptions;
  readonly #host = randomUUID();
  #client: pg.Client | undefined;
  /** When the lease was asked for last, by both clocks: the monotonic one stands still while a machine is suspended. */
  #leasedAt: { readonly monotonic: number; readonly now: number } | undefined;
  /** The last change that was announced on this connection, and the last that the database knows to be known here. */
  #heard = 0;
  #told = 0;
  #telling: Promise<void> | undefined;
  #isStopped = false;
  #cancel = (): void => {};

  constructor(url: string, schema: string, options: FollowOptions) {
    this.#url = url;
    this.#schema = schema;
    this.#options = options;
    void this.#connect();
  }

  isCurrent(): boolean {
    const { clock } = this.#options;
    if (this.#leasedAt === undefined) return false;
    const good = LEASE_MS - MARGIN_MS;
    return clock.monotonic() - this.#leasedAt.monotonic < good && Math.abs(clock.now() - this.#leasedAt.now) < good;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    this.#leasedAt = undefined;
    const client = this.#client;
    this.#client = undefined;
    // The lease would end by itself: a database that is gone must not delay the stop.
    await client?.query(LEAVE, [this.#host]).catch(() => {});
    await client?.end().catch(() => {});
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: LEASE_MS,
      statement_timeout: LEASE_MS,
      query_timeout: LEASE_MS,
      keepAlive: true,
      options: `-c search_path=${this.#schema}`,
    });
    client.on('error', (cause) => this.#lost(client, cause));
    client.on('end', () => this.#lost(client, new Error('The connection of the key feed has ended.')));
    client.on('notification', ({ payload = '' }) => this.#announced(client, payload));
    this.#client = client;
    // A database that took over may count from less. Told the old number, it would take later changes for known here.
    this.#heard = 0;
    this.#told = 0;
    try {
      await client.connect();
      await client.query(`LISTEN ${keyChannel(this.#schema)}`);
      await client.query(FORGET);
      const asked = this.#time();
      await client.query(REGISTER, [this.#host, LEASE_MS]);
      if (this.#client !== client) return;
      // Changes before the registration were not announced here.
      this.#options.changed(undefined);
      this.#leasedAt = asked;
      await this.#tell(client);
      if (this.#client === client) this.#renewLater(client);
    } catch (cause) {
      this.#lost(client, cause);
    }
  }

  #time() {
    const { clock } = this.#options;
    return { monotonic: clock.monotonic(), now: clock.now() };
  }

  #announced(client: pg.Client, payload: string): void {
    if (this.#client !== client) return;
    const [epoch = '', hash = '', id = ''] = payload.split(' ');
    this.#options.changed({ hash, id });
    this.#heard = Number(epoch);
    // Before the registration there is no lease, so nothing is told. The registration is followed by it.
    if (this.#leasedAt !== undefined) void this.#tell(client);
  }

  /** Tells the database what is known here. One statement at a time. */
  #tell(client: pg.Client): Promise<void> {
    this.#telling ??= this.#tellAll(client).finally(() => {
      this.#telling = undefined;
    });
    return this.#telling;
  }

  async #tellAll(client: pg.Client): Promise<void> {
    try {
      while (this.#told < this.#heard) {
        const heard = this.#heard;
        requireLease(await client.query(KNOW, [this.#host, heard]));
        if (this.#client !== client) return;
        this.#told = heard;
      }
    } catch (cause) {
      this.#lost(client, cause);
    }
  }

  async #renew(client: pg.Client): Promise<void> {
    try {
      const heard = this.#heard;
      const asked = this.#time();
      requireLease(await client.query(RENEW, [this.#host, heard, LEASE_MS]));
      if (this.#client !== client) return;
      this.#told = Math.max(this.#told, heard);
      this.#leasedAt = asked;
    } catch (cause) {
      this.#lost(client, cause);
    }
  }

  #renewLater(client: pg.Client): void {
    this.#cancel = this.#options.clock.after(RENEW_MS, () => {
      void this.#renew(client).then(() => {
        if (this.#client === client) this.#renewLater(client);
      });
    });
  }

  #lost(client: pg.Client, cause: unknown): void {
    if (this.#client !== client || this.#isStopped) return;
    this.#client = undefined;
    this.#leasedAt = undefined;
    this.#cancel();
    this.#options.changed(undefined);
    this.#options.failed(cause);
    void client.end().catch(() => {});
    this.#cancel = this.#options.clock.after(RECONNECT_MS, () => void this.#connect());
  }
}

/** Without a lease, changes may have been confirmed without this host. */
function requireLease({ rowCount }: { readonly rowCount: number | null }): void {
  if (rowCount === 0) throw new Error('The lease of the key feed has ended.');
}

interface Waiting {
  readonly deadline: number;
  /** The change to wait for; undefined before the first reading. */
  epoch: number | undefined;
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
}

/** Polls what the hosts know, once for all that wait. */
class Confirmations {
  readonly #database: Database;
  #waiting: Waiting[] = [];
  #isPolling = false;

  constructor(database: Database) {
    this.#database = database;
  }

  next(clock: Clock): Promise<void> {
    return new Promise((resolve, reject) => {
      const deadline = clock.monotonic() + LONGEST_CONFIRMATION_MS;
      this.#waiting.push({ deadline, epoch: undefined, resolve, reject });
      if (!this.#isPolling) void this.#poll(clock);
    });
  }

  async #poll(clock: Clock): Promise<void> {
    this.#isPolling = true;
    while (this.#waiting.length > 0) {
      const asking = this.#waiting;
      this.#waiting = [];
      try {
        const row = (await this.#database.query(PROGRESS, [])).rows[0] ?? {};
        this.#settle(asking, integer(row, 'epoch'), optional(row, 'known', integer), clock);
      } catch (cause) {
        for (const { reject } of asking) reject(cause);
      }
      if (this.#waiting.length > 0) await new Promise<void>((resolve) => void clock.after(POLL_MS, resolve));
    }
    this.#isPolling = false;
  }

  #settle(asking: readonly Waiting[], epoch: number, known: number | undefined, clock: Clock): void {
    for (const waiting of asking) {
      waiting.epoch ??= epoch;
      if (known === undefined || known >= waiting.epoch) waiting.resolve();
      else if (clock.monotonic() > waiting.deadline)
        waiting.reject(new Error('key feed: a host neither confirms a change nor loses its lease.'));
      else this.#waiting.push(waiting);
    }
  }
}
