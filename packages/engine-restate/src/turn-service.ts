import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import {
  type Context,
  createEndpointHandler,
  type LoggerTransport,
  type ServiceOptions,
  service,
} from '@restatedev/restate-sdk';
import type { Log } from '@svc/host-kit';
import type { NodesInRestate } from './nodes-in-restate.ts';
import type { TurnEnd } from './turn-end.ts';

interface TurnServiceOptions {
  /** The name of the service in Restate. */
  readonly name: string;
  readonly identityKeys: readonly string[];
  readonly turnDays: number;
  readonly log: Log;
}

/** The HTTP server of this process that Restate calls for its turns. */
export class TurnService {
  /** The turns that are under way, by id. */
  readonly turns: Map<string, NodesInRestate> = new Map();
  readonly #server: Http2Server = createServer();
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor() {
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
    });
  }

  /**
   * Listens for Restate.
   *
   * @returns the port
   * @throws {Error} when the address cannot be taken
   */
  async listen(host: string, port: number): Promise<number> {
    const listening = once(this.#server, 'listening');
    this.#server.listen(port, host);
    try {
      await listening;
    } catch (error) {
      const said = error instanceof Error ? error.message : typeof error;
      throw new Error(`restateEngine: cannot listen on ${host} port ${port} (${said}). Set host and port.`);
    }
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Serves the turns from now on, as a service of Restate. */
  serve({ name, identityKeys, turnDays, log }: TurnServiceOptions): void {
    const handlers = { [HANDLER]: (context: Context, input: unknown) => this.#tell(context, input) };
    const retention = { days: turnDays };
    const options = { ...CALLS, journalRetention: retention, idempotencyRetention: retention };
    const endpoint = createEndpointHandler({
      services: [service({ name, handlers, options })],
      logger: loggerTo(log),
      ...(identityKeys.length > 0 && { identityKeys: [...identityKeys] }),
    });
    this.#server.on('request', endpoint);
  }

  /** Ends the server and its connections. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const session of this.#sessions) session.destroy();
    await closed;
  }

  /**
   * Tells a turn to Restate. A turn that is not under way here is over, or had another process: only the host decides when a run
   * is driven, so nothing is to be done.
   */
  async #tell(context: Context, input: unknown): Promise<TurnEnd> {
    return (await this.turns.get(idOf(input))?.tell(context)) ?? { left: 'gone' };
  }
}

/** The only handler of the service. */
export const HANDLER = 'turn';

/** How Restate calls the handler. */
const CALLS: ServiceOptions = {
  // A turn that rests has no message for a long time. A broken call is repeated, and executes nothing again.
  inactivityTimeout: { hours: 12 },
  abortTimeout: { hours: 12 },
  // For about a day; the turn of a killed host is killed by the next holder of its run before.
  retryPolicy: {
    ...{ initialInterval: 100, exponentiationFactor: 2, maxInterval: { seconds: 10 } },
    ...{ maxAttempts: 8640, onMaxAttempts: 'kill' },
  },
  // The turn of a former process at this address.
  onJournalMismatchErrors: 'fail',
};

function idOf(input: unknown): string {
  if (typeof input !== 'object' || input === null || !('turn' in input)) return '';
  return String(input.turn);
}

/** The errors of the server, such as a call with a wrong signature. Those of a turn are told by the host. */
function loggerTo(log: Log): LoggerTransport {
  return ({ level, source }, message) => {
    if (level !== 'error' || source !== 'SYSTEM') return;
    log({ level, event: 'restate.error', message: String(message) });
  };
}
