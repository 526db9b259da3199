import { type ClientRequest, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { EgressError } from '../errors.ts';
import { Deadline } from './deadline.ts';
import { Guard, type GuardOptions } from './guard.ts';

export interface GuardedAgentsOptions extends Pick<GuardOptions, 'policy' | 'ca' | 'resolver' | 'network'> {
  /** Bytes that a connection may bring, headers and TLS included. Default 10 485 760 and 64 KiB for those. */
  readonly maxResponseBytes?: number;
  /** One wall-clock bound over resolution, connection, TLS, headers and body, in ms. Default 30 000. */
  readonly timeoutMs?: number;
}

export interface GuardedAgents {
  /** Refuses every URL but those that the policy's loopback switch opens. */
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
}

/**
 * Agents for `node:http`, `node:https` and the clients that are built on them, such as axios and got. Each request is judged, resolved and
 * dialled anew, also each hop of a redirect that such a client follows; connections are not kept. Compressed answers are an error, so that
 * nothing can grow behind the limit.
 *
 * @example
 * const { httpAgent, httpsAgent } = guardedAgents({ policy: egressPolicy() });
 * await axios.get(url, { httpAgent, httpsAgent, proxy: false });
 * await got(url, { agent: { http: httpAgent, https: httpsAgent } });
 */
export function guardedAgents(options: GuardedAgentsOptions): GuardedAgents {
  const { maxResponseBytes = 10_485_760, timeoutMs = 30_000, ...guardOptions } = options;
  const guard = new Guard(guardOptions);
  const rules = { guard, timeoutMs, maxWireBytes: maxResponseBytes + OVERHEAD_BYTES };
  return {
    httpAgent: guardAgent(new HttpAgent(FRESH), 'http:', rules),
    httpsAgent: guardAgent(new HttpsAgent(FRESH), 'https:', rules),
  };
}

const OVERHEAD_BYTES = 65_536;

/** A connection that is kept would serve a request that nobody judged. */
const FRESH = { keepAlive: false, maxCachedSessions: 0 } as const;

interface Rules {
  readonly guard: Guard;
  readonly timeoutMs: number;
  readonly maxWireBytes: number;
}

/** What `node:http` asks an agent for. Of all this only host and port are read: the rest is for an agent that dials by itself. */
interface ConnectionRequest {
  readonly host?: string | null;
  readonly port?: number | string | null;
  readonly socketPath?: string | null;
  readonly [ended]?: AbortSignal;
}

/** Tells a connection that is being made that nobody wants it any more. */
const ended: unique symbol = Symbol('ended');

/** Takes over what an agent does by itself: connecting. */
function guardAgent<T extends HttpAgent>(agent: T, protocol: 'http:' | 'https:', rules: Rules): T {
  // Not in the declarations, and what every agent is asked through.
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
  // A path is a way around every address.
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

/** The host header would steer where the request is taken to be for; the coding, what its answer grows to. */
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

/** A request that is destroyed says so only once it has a socket; here it is heard at once. */
function endOf(request: ClientRequest): AbortSignal {
  const end = new AbortController();
  const destroy = request.destroy.bind(request);
  request.destroy = (error) => {
    end.abort(error);
    return destroy(error);
  };
  return end.signal;
}

/** As `node:http` writes it by itself. */
function hostHeaderOf({
  host,
  port,
  defaultPort,
}: ConnectionRequest & { readonly defaultPort?: number | null }): string {
  const name = (host ?? '').toLowerCase();
  const bracketed = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  return port === undefined || port === null || Number(port) === defaultPort ? bracketed : `${bracketed}:${port}`;
}
