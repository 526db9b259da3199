import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Host } from '../host.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { nodeConnections } from './node-connections.ts';

/** Times of a stop. */
export interface OrderlyStopOptions {
  /**
   * The time in which `readyz` answers 503 before the server accepts no more connections, in ms: as long as a load
   * balancer takes to notice. Default: 0.
   */
  readonly drainMs?: number;
  /** The longest wait for requests, and then again for executions and attempts, in ms. Default: 4500. */
  readonly graceMs?: number;
}

/**
 * Prepares the stop of a host and of its server (`node:http`, `node:https`), so that no request is cut off. Call it
 * before the server listens. The returned function stops both; each further call returns the promise of the first.
 *
 * 1. `readyz` answers 503. From now on each answer says `Connection: close`, and a connection is closed when it has
 *    rested for half a second. This lasts `drainMs`.
 * 2. The server accepts no more connections. Event streams end, and tell their readers when to come back.
 * 3. Requests finish. Connections that are still open after `graceMs` are closed.
 * 4. `host.stop(graceMs)`: executions and attempts finish, and the store is closed.
 *
 * The stop takes as long as the work under way, and not the whole grace.
 *
 * @throws {TypeError} when an option is unknown, or a duration is not a whole number of ms from 0 to an hour
 * @example
 * const server = createServer(toNodeListener(host));
 * const stop = orderlyStop(server, host, { drainMs: 5000 });
 * server.listen(8787, '127.0.0.1');
 * process.once('SIGTERM', stop);
 * @see RFC 9112, section 9.6
 */
export function orderlyStop(
  server: Server,
  host: Pick<Host, 'drain' | 'closeStreams' | 'stop'>,
  options: OrderlyStopOptions = {},
): () => Promise<void> {
  requireKnown('orderlyStop', options, STOP_OPTIONS);
  const { drainMs = 0, graceMs = GRACE_MS } = options;
  requireDuration('drainMs', drainMs);
  requireDuration('graceMs', graceMs);
  const connections = nodeConnections(server);
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= stop();
    return stopped;
  };

  async function stop(): Promise<void> {
    host.drain();
    connections.leave();
    if (drainMs > 0) await new Promise((resolve) => setTimeout(resolve, drainMs));
    await connections.quiet(QUIET_WITHIN_MS);
    const closed = closeListener(server);
    connections.release();
    // After the listener has closed: a reader that came back at once would be rejected here, and stay away.
    host.closeStreams();
    await within(graceMs, closed);
    server.closeAllConnections();
    await within(CLOSE_WITHIN_MS, closed);
    connections.end();
    await host.stop(graceMs);
  }
}

export const STOP_OPTIONS = { drainMs: true, graceMs: true } as const satisfies OptionNames<OrderlyStopOptions>;

/** The default of `graceMs`. Twice this time is less than the ten seconds that supervisors wait. */
export const GRACE_MS = 4500;
/** Clients beyond number never rest. Their requests are held back for no longer than this. */
const QUIET_WITHIN_MS = 400;
/** Sockets that are destroyed are closed in the next turns. */
const CLOSE_WITHIN_MS = 100;

/** `close` of an HTTP server would also close connections that have just been answered. That of its base does not. */
function closeListener(server: Server): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()));
}

/** Waits for a promise, but not longer than `ms`. */
function within(ms: number, promise: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function requireDuration(option: string, value: number): void {
  if (Number.isInteger(value) && value >= 0 && value <= MOST_MS) return;
  throw new TypeError(`orderlyStop: ${option} must be a whole number of ms from 0 to ${MOST_MS}.`);
}

const MOST_MS = 3_600_000;
