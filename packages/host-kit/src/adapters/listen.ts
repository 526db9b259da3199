import type { RequestListener, Server } from 'node:http';
import type { Host } from '../host.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { systemClock } from '../ports/clock.ts';
import { describeError } from '../ports/log.ts';
import { standardErrorLog } from '../standard-error-log.ts';
import { withoutPlace } from '../without-place.ts';
import { type HostServerOptions, hostServer, SERVER_OPTIONS } from './host-server.ts';
import { refuseMalformed, toNodeListener } from './node-listener.ts';
import { GRACE_MS, type OrderlyStopOptions, orderlyStop, STOP_OPTIONS } from './orderly-stop.ts';
import { answerParserErrors } from './parser-errors.ts';
import { processEnd } from './process-end.ts';

/** Options of `listen`: the limits of its server, the times of its stop, and these. */
export interface ListenOptions extends HostServerOptions, OrderlyStopOptions {
  /**
   * The address that the server listens at. Default: `127.0.0.1`, which only this machine reaches. `0.0.0.0` is every IPv4
   * address of the machine, and `::` every address.
   */
  readonly address?: string;
  /**
   * Serves the requests in place of the host: an app, such as one of Express, that passes the paths of the protocol that it
   * does not serve to `toNodeListener(host)`. Malformed requests are refused before it. Default: the host alone.
   */
  readonly listener?: RequestListener;
  /**
   * The signals that stop the server and the host. Default: `SIGTERM` and `SIGINT`. `[]` leaves the process to you: no signal and
   * no lost store ends it.
   */
  readonly stopOn?: readonly NodeJS.Signals[];
}

/** A host that serves requests. */
export interface Listening {
  /** The URL of the server, such as `http://127.0.0.1:8787`. */
  readonly url: string;
  /** The server of `node:http`. */
  readonly server: Server;
  /** Stops the server and the host, as `orderlyStop` does. Each further call returns the promise of the first. */
  stop(): Promise<void>;
  /** Resolves when the server and the host have stopped. Await it to close what the engine uses, such as a pool. */
  readonly stopped: Promise<void>;
}

/**
 * Starts a host and serves it with `node:http`, until SIGTERM or SIGINT stops both without cutting off a request. A signal
 * during the start, and a second one, end the process at once. A process that has not ended `drainMs` and twice `graceMs` after
 * the signal, about ten seconds by default, is ended: by a store that does not answer with the exit code 1.
 *
 * The server listens before the host starts: a port that is taken is an error before a run goes on, and probes are answered
 * during the start. Other requests get 503 until then. When the store is lost (`host.lost`), both are stopped, and the process
 * ends within two seconds with the exit code 1.
 *
 * @param port 0 lets the system choose one: `url` has it
 * @returns the server, once it serves requests
 * @throws {TypeError} for an unknown option, and for a port, a limit or a duration out of its range
 * @throws {Error} when the port or the address cannot be used, and as `host.start` does. The host is then stopped
 * @example
 * const { url } = await listen(host, 8787);
 * console.log(`the host is at ${url}`);
 */
export async function listen(host: Host, port: number, options: ListenOptions = {}): Promise<Listening> {
  requireKnown('listen', options, LISTEN_OPTIONS);
  if (port === undefined) throw new TypeError('listen: port is required. Pass a number such as 8787.');
  if (!Number.isInteger(port) || port < 0 || port > MOST_PORT)
    throw new TypeError(`listen: port must be a whole number from 0 to ${MOST_PORT}. Pass a number, not a text.`);
  const { address = '127.0.0.1', listener, stopOn = ['SIGTERM', 'SIGINT'], ...others } = options;
  const { drainMs = 0, graceMs = GRACE_MS, ...limits } = others;
  const log = options.log ?? standardErrorLog(systemClock).log;

  const serveHost = toNodeListener(host);
  const serve = listener === undefined ? serveHost : refuseMalformed(host, listener);
  let answer: RequestListener = (request, response) => {
    if (PROBE.test(request.url ?? '')) serveHost(request, response);
    else response.writeHead(503, { 'retry-after': '1' }).end();
  };
  const server = hostServer((request, response) => answer(request, response), { ...limits, log });
  answerParserErrors(server, host);
  const stopBoth = orderlyStop(server, host, { drainMs, graceMs });

  const end = processEnd({ signals: stopOn, withinMs: drainMs + 2 * graceMs + CLOSE_WITHIN_MS, log });
  let bound: number;
  try {
    bound = await bind(server, port, address);
    server.on('error', (error) => log({ level: 'error', event: 'server.failed', ...describeError(error) }));
    await host.start();
  } catch (error) {
    end.release();
    server.close();
    server.closeAllConnections();
    await host.stop(0);
    throw error;
  }
  answer = serve;
  let tell = () => {};
  const stopped = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const stop = () => {
    const stopping = stopBoth();
    void stopping
      .catch(() => {})
      .then(end.release)
      .then(tell);
    return stopping;
  };
  end.serving(stop);
  void host.lost.then(end.lost);
  return { url: `http://${address.includes(':') ? `[${address}]` : address}:${bound}`, server, stop, stopped };
}

/** The time of a stop beside its waits, in ms: with the defaults, a stop ends before the ten seconds of supervisors. */
const CLOSE_WITHIN_MS = 750;
const MOST_PORT = 65_535;

const LISTEN_OPTIONS = {
  ...SERVER_OPTIONS,
  ...STOP_OPTIONS,
  address: true,
  listener: true,
  stopOn: true,
} as const satisfies OptionNames<ListenOptions>;

/** A start continues the work of an earlier process, and can take long. A supervisor that gets no answer would end it. */
const PROBE = /^\/host\/[^/]+\/(?:livez|readyz)(?:\?|$)/;

function bind(server: Server, port: number, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(unbound(error, port, address));
    server.once('error', fail);
    server.listen(port, address, () => {
      server.off('error', fail);
      const found = server.address();
      resolve(typeof found === 'object' && found !== null ? found.port : port);
    });
  });
}

function unbound({ code = '', message }: NodeJS.ErrnoException, port: number, address: string): Error {
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${address} is taken. Stop the other program, or choose another port.`,
    EACCES: `port ${port} of ${address} needs more rights than this account has. Choose a port above 1023.`,
    EADDRNOTAVAIL: `this machine does not have the address ${address}. Leave it out for 127.0.0.1, or pass 0.0.0.0.`,
    ENOTFOUND: `address ${address} is unknown. Pass an IP address of this machine, such as 0.0.0.0.`,
  };
  return withoutPlace(`listen: ${messages[code] ?? message}`, code);
}
