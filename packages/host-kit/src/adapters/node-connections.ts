import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

/** The connections of a server, and their end when the server stops. */
export interface NodeConnections {
  /**
   * Asks every client to leave. From now on each answer says `Connection: close`, and a connection is closed when it has
   * rested for half a second.
   */
  leave(): void;
  /**
   * Holds back each request that arrives from now on. Resolves when no connection and no request has arrived and no answer
   * has ended for a moment, at the latest after `withinMs`: clients that are answered connect anew, and a connection that
   * the system has accepted and the server has not seen is lost with the listening socket. Close the listener in the turn
   * in which it resolves, and then call `release`.
   */
  quiet(withinMs: number): Promise<void>;
  /** Hands the held requests to the application, in their order. */
  release(): void;
  /** Ends the closing of connections that rest. Call it when the server has closed. */
  end(): void;
}

/**
 * Observes the connections of a server of `node:http` or `node:https` from now on.
 *
 * Node's own `closeIdleConnections` closes a connection that has just been answered. A busy client has then often sent
 * its next request already, which is lost. So this closes only connections that have rested for a while.
 */
export function nodeConnections(server: Server): NodeConnections {
  const connections = new Map<Socket, Connection>();
  let isLeaving = false;
  /** When the last connection or request arrived, or the last answer ended, in ms of a monotonic clock. */
  let stirred = 0;
  /** The requests that wait, and the listeners of the application. */
  let held: { readonly requests: readonly Held[]; readonly listeners: readonly Listener[] } | undefined;
  let sweep: NodeJS.Timeout | undefined;

  const observe = (socket: Socket): Connection => {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const connection = { underWay: 0, last: undefined, bytesRead: socket.bytesRead, restsSince: performance.now() };
    connections.set(socket, connection);
    socket.once('close', () => connections.delete(socket));
    return connection;
  };
  const onConnection = (socket: Socket): void => {
    stirred = performance.now();
    observe(socket);
  };
  const onRequest = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    stirred = performance.now();
    const connection = observe(socket);
    const { last } = connection;
    connection.underWay++;
    connection.last = response;
    if (isLeaving) {
      // Of requests that were sent in one go, the last one closes the connection. Otherwise the others get no answer.
      if (last?.headersSent === false) last.removeHeader('connection');
      response.setHeader('connection', 'close');
    }
    response.once('close', () => {
      connection.underWay--;
      if (connection.last === response) connection.last = undefined;
      connection.bytesRead = socket.bytesRead;
      stirred = performance.now();
      connection.restsSince = stirred;
    });
  };
  // Over TLS, the socket of a request is not that of `connection`, but the one above it.
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', onConnection);
  // Before the listeners of the application, which may send the head at once.
  server.prependListener('request', onRequest);

  return {
    leave() {
      if (isLeaving) return;
      isLeaving = true;
      for (const { last } of connections.values()) {
        if (last?.headersSent === false) last.setHeader('connection', 'close');
      }
      // After the timers of a turn comes its input. Judged before it, a request that waits to be read would be cut off.
      sweep = setInterval(() => setImmediate(closeResting), SWEEP_MS);
    },
    async quiet(withinMs) {
      if (held === undefined) holdRequests();
      for (const end = performance.now() + withinMs; ; ) {
        await new Promise<void>((resolve) => setTimeout(resolve, QUIET_MS / 4));
        // After the timers of a turn comes its input.
        await new Promise<void>((resolve) => setImmediate(resolve));
        const now = performance.now();
        if (now >= end || now - stirred >= QUIET_MS) return;
      }
    },
    release() {
      const { requests = [], listeners = [] } = held ?? {};
      held = undefined;
      for (const request of requests) pass(listeners, request);
    },
    end() {
      clearInterval(sweep);
    },
  };

  /** Puts one listener in the place of those of the application. Requests are observed when they arrive. */
  function holdRequests(): void {
    const listeners = server.listeners('request').filter((listener) => listener !== onRequest);
    const requests: Held[] = [];
    held = { requests, listeners };
    server.removeAllListeners('request');
    server.on('request', onRequest);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (held === undefined) pass(listeners, [request, response]);
      else requests.push([request, response]);
    });
  }

  function pass(listeners: readonly Listener[], request: Held): void {
    for (const listener of listeners) Reflect.apply(listener, server, request);
  }

  function closeResting(): void {
    const now = performance.now();
    for (const [socket, connection] of connections) {
      if (connection.underWay > 0) continue;
      if (socket.bytesRead !== connection.bytesRead) {
        connection.bytesRead = socket.bytesRead;
        connection.restsSince = now;
      } else if (now - connection.restsSince >= REST_MS) socket.destroySoon();
    }
  }
}

type Held = [request: IncomingMessage, response: ServerResponse];
type Listener = ReturnType<Server['listeners']>[number];

interface Connection {
  /** Requests without a complete answer. */
  underWay: number;
  /** The answer to the newest of them. */
  last: ServerResponse | undefined;
  /** Bytes received when the connection was last seen at work. */
  bytesRead: number;
  /** When it was last seen at work, in ms of a monotonic clock. */
  restsSince: number;
}

const SWEEP_MS = 50;
/** Longer than a busy client takes from an answer to its next request, and short enough for a stop. */
const REST_MS = 500;
/** Longer than a client takes from an answer to its next connection, also on a busy machine. */
const QUIET_MS = 40;
