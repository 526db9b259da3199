import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { Log } from '../ports/log.ts';
import { continueWhenRead } from './continue-when-read.ts';

/** Limits of an HTTP server. */
export interface HostServerOptions {
  /**
   * Most connections at a time. Further ones are closed at once. Default: 10 000, or as many as the process may open
   * files, less 256 for the store, deliveries and files.
   */
  readonly maxConnections?: number;
  /** Time in which the head of a request must arrive, in ms. Default: 10 000. */
  readonly headersTimeoutMs?: number;
  /** Time in which a whole request must arrive, in ms. Default: 30 000. */
  readonly requestTimeoutMs?: number;
  /**
   * Time after which a connection without a request is closed, in ms. It should be longer than that of a load balancer,
   * or the balancer sends requests on connections that are being closed. Default: 65 000.
   */
  readonly keepAliveTimeoutMs?: number;
  /** Receives `server.connections-refused`, with their number, at most once a second. Default: no log. */
  readonly log?: Log;
}

/**
 * Creates a server of `node:http` whose limits hold: Node looks for late requests only every 30 s by default, and
 * limits the number of connections not at all. A request with `Expect: 100-continue` is told to go on when its body is
 * read, so that a client that is refused sends no body.
 *
 * @throws {TypeError} when an option is unknown, or a limit is not a whole number in its range
 * @example
 * const server = hostServer(toNodeListener(host), { maxConnections: 2000, log });
 * const stop = orderlyStop(server, host);
 * server.listen(8787, '127.0.0.1');
 */
export function hostServer(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
  options: HostServerOptions = {},
): Server {
  requireKnown('hostServer', options, SERVER_OPTIONS);
  const { headersTimeoutMs = 10_000, requestTimeoutMs = 30_000, keepAliveTimeoutMs = 65_000, log } = options;
  const maxConnections = options.maxConnections ?? defaultMaxConnections(openFilesLimit());
  requireWithin('maxConnections', maxConnections, MOST_CONNECTIONS);
  requireWithin('headersTimeoutMs', headersTimeoutMs, MOST_MS);
  requireWithin('requestTimeoutMs', requestTimeoutMs, MOST_MS);
  requireWithin('keepAliveTimeoutMs', keepAliveTimeoutMs, MOST_MS);
  const server = createServer(
    {
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: CHECK_EVERY_MS,
      // The listener refuses such a request with the stamps of the protocol, which Node does not know.
      requireHostHeader: false,
    },
    listener,
  );
  server.maxConnections = maxConnections;
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response);
    server.emit('request', request, response);
  });
  if (log !== undefined) reportDrops(server, maxConnections, log);
  return server;
}

export const SERVER_OPTIONS = {
  maxConnections: true,
  headersTimeoutMs: true,
  requestTimeoutMs: true,
  keepAliveTimeoutMs: true,
  log: true,
} as const satisfies OptionNames<HostServerOptions>;

/** How late a deadline may act. */
const CHECK_EVERY_MS = 1000;
const MOST_CONNECTIONS = 1_000_000;
const MOST_MS = 3_600_000;

function requireWithin(option: string, value: number, most: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= most) return;
  throw new TypeError(`hostServer: ${option} must be a whole number from 1 to ${most}.`);
}

/** The most connections of a process that may open `files` files; undefined: without a known limit. */
export function defaultMaxConnections(files: number | undefined): number {
  if (files === undefined) return DEFAULT_CONNECTIONS;
  return Math.max(Math.min(DEFAULT_CONNECTIONS, files - RESERVED_FILES), LEAST_CONNECTIONS);
}

const DEFAULT_CONNECTIONS = 10_000;
const RESERVED_FILES = 256;
const LEAST_CONNECTIONS = 64;

/** The most files that this process may open; undefined where the system does not tell. */
export function openFilesLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** One record for all refusals of a second: a flood of connections must not become a flood of the log. */
function reportDrops(server: Server, maxConnections: number, log: Log): void {
  let refused = 0;
  server.on('drop', () => {
    refused++;
    if (refused > 1) return;
    setTimeout(() => {
      log({ level: 'warn', event: 'server.connections-refused', refused, maxConnections });
      refused = 0;
    }, REPORT_AFTER_MS).unref();
  });
}

const REPORT_AFTER_MS = 1000;
