import { type ClientRequest, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { EgressError } from '../errors.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { Deadline } from './deadline.ts';
import { DESTINATION_OPTIONS, Guard, type GuardOptions } from './guard.ts';

export type { Network } from './network.ts';

/** The options of {@link guardedAgents}. */
export interface GuardedAgentsOptions extends Pick<GuardOptions, 'policy' | 'resolver' | 'network'> {
  /** The largest response body in bytes. Headers and TLS may take 65 536 bytes more. Default 10 485 760. */
  readonly maxResponseBytes?: number;
  /** The deadline in milliseconds for resolution, connection, TLS, headers and body together. Default 30 000. */
  readonly timeoutMs?: number;
}

/** The two agents that a client takes. */
export interface GuardedAgents {
  /** The agent for `http:`. It rejects every URL except those that the policy's loopback switch opens. */
  readonly httpAgent: HttpAgent;
  /** The agent for `https:`. */
  readonly httpsAgent: HttpsAgent;
}

const GUARDED_AGENTS_OPTIONS: OptionNames<GuardedAgentsOptions> = {
  ...DESTINATION_OPTIONS,
  maxResponseBytes: true,
  timeoutMs: true,
};

/**
 * Makes agents for `node:http`, `node:https` and clients on top of them, such as axios and got. Each request is judged,
 * resolved and dialled anew, and so is each redirect that the client follows. Connections are not kept. A compressed
 * response is an error, because its decoded size would escape the limit.
 *
 * Errors reach the client as {@link EgressError}, possibly wrapped as the `cause` of its own error.
 *
 * @example
 * import { get } from 'node:https';
 * import { guardedAgents } from '@svc/egress-guard/agents';
 *
 * const { httpsAgent } = guardedAgents();
 * get('https://hooks.example/', { agent: httpsAgent }, (response) => console.log(response.statusCode));
 */
export function guardedAgents(options: GuardedAgentsOptions = {}): GuardedAgents {
  requireKnown('guardedAgents', options, GUARDED_AGENTS_OPTIONS);
  const { maxResponseBytes = 10_485_760, timeoutMs = 30_000, ...guardOptions } = options;
  const guard = new Guard('guardedAgents', guardOptions);
  const rules = { guard, timeoutMs, maxWireBytes: maxResponseBytes + OVERHEAD_BYTES };
  return {
    httpAgent: guardAgent(new HttpAgent(FRESH), 'http:', rules),
    httpsAgent: guardAgent(new HttpsAgent(FRESH), 'https:', rules),
  };
}

const OVERHEAD_BYTES = 65_536;

/** Connections are not kept: a kept connection would serve a request that was not judged. */
const FRESH = { keepAlive: false, maxCachedSessions: 0 } as const;

interface Rules {
  readonly guard: Guard;
  readonly timeoutMs: number;
  readonly maxWireBytes: number;
}

/**
 * The options with which `node:http` asks an agent for a connection. Only host and port are used; `socketPath` is
 * rejected.
 */
interface ConnectionRequest {
  readonly host?: string | null;
  readonly port?: number | string | null;
  readonly socketPath?: string | null;
  readonly [ended]?: AbortSignal;
}

/** The signal that ends a connection attempt whose request was destroyed. */
const ended: unique symbol = Symbol('ended');

/** Replaces the way in which an agent connects. */
function guardAgent<T extends HttpAgent>(agent: T, protocol: 'http:' | 'https:', rules: Rules): T {
  // Node calls `addRequest` for each request; the type declarations omit it.
  const addRequest: (...args: unknown[]) => void = Reflect.get<object, string>(agent, 'addRequest');
  return Object.assign(agent, {
    createConnection: (options: ConnectionRequest, callback: (error: Error | null, socket?: Duplex) => void) => {
      connect(options, protocol, rules).then((socket) => callback(null, socket), callback);
    },
    addRequest(request: ClientRequest, target: ConnectionRequest, ...rest: unknown[]) {
      guardRequest(request, target);
      Reflect.apply(addRequest, agent, [request, { ...target, [ended]: endOf(request) }, ...rest]);
    },
  });
}

async function connect(request: ConnectionRequest, protocol: string, rules: Rules): Promise<Duplex> {
  const { host, port, socketPath } = request;
  // A socket path would bypass the judgement of addresses.
  if (socketPath) throw new EgressError('url_rejected', 'socket-path', { rejection: 'host_not_allowed' });
  const name = host?.includes(':') ? `[${host.replace(/^\[|\]$/g, '')}]` : host;
  const url = rules.guard.check(`${protocol}//${name ?? ''}:${port ?? ''}/`);
  const deadline = new Deadline(rules.timeoutMs, request[ended]);
  let socket: Duplex & { readonly bytesRead: number };
  try {
    socket = await rules.guard.open(url, deadline);
  } catch (error) {
    deadline.close();
    throw error;
  }
  deadline.forgetSignal();
  deadline.onEnd((error) => socket.destroy(error));
  socket.on('close', () => deadline.close());
  socket.on('data', () => {
    if (socket.bytesRead > rules.maxWireBytes) socket.destroy(new EgressError('response_too_large', 'wire-bytes'));
  });
  return socket;
}

/** Rejects a foreign `host` header, which could address another virtual host, and turns compression off. */
function guardRequest(
  request: ClientRequest,
  target: ConnectionRequest & { readonly defaultPort?: number | null },
): void {
  const given = request.getHeader('host');
  if (given !== undefined && String(given).toLowerCase() !== hostHeaderOf(target)) {
    request.destroy(new TypeError('Header "host": is set by the guard. Leave it out.'));
    return;
  }
  if (!request.headersSent) request.setHeader('accept-encoding', 'identity');
  request.prependOnceListener('response', (response: IncomingMessage) => {
    const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
    if (encoding !== 'identity') request.destroy(new EgressError('response_encoded', 'content-encoding'));
  });
}

/**
 * Returns a signal that aborts when the request is destroyed. Node itself reports that only after the request has a
 * socket.
 */
function endOf(request: ClientRequest): AbortSignal {
  const end = new AbortController();
  const destroy = request.destroy.bind(request);
  request.destroy = (error) => {
    end.abort(error);
    return destroy(error);
  };
  return end.signal;
}

/** Returns the host header that `node:http` writes by default. */
function hostHeaderOf({
  host,
  port,
  defaultPort,
}: ConnectionRequest & { readonly defaultPort?: number | null }): string {
  const name = (host ?? '').toLowerCase();
  const bracketed = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  return port === undefined || port === null || Number(port) === defaultPort ? bracketed : `${bracketed}:${port}`;
}
