import { createServer, type RequestListener } from 'node:http';

/** Three webhook receivers: one accepts, one fails and one hangs. */
export interface Receivers {
  /** In this order. */
  readonly urls: readonly string[];
  readonly ports: readonly number[];
  /** Returns the number of accepted deliveries so far. */
  readonly delivered: () => number;
  close(): Promise<void>;
}

/** Starts the receivers on free ports of the loopback interface. */
export async function startReceivers(): Promise<Receivers> {
  let delivered = 0;
  const listeners: RequestListener[] = [
    (request, response) => {
      request.resume().on('end', () => {
        delivered++;
        response.writeHead(204).end();
      });
    },
    (request, response) => void request.resume().on('end', () => response.writeHead(500).end()),
    (request) => void request.resume(),
  ];
  const servers = listeners.map((listener) => createServer(listener));
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => {
            const address = server.address();
            resolve(typeof address === 'object' && address !== null ? address.port : 0);
          });
        }),
    ),
  );
  return {
    urls: ports.map((port) => `http://127.0.0.1:${port}/`),
    ports,
    delivered: () => delivered,
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}
