import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections and to servers that ask for any port. */
const [LOWEST, HIGHEST] = [20_000, 32_000];

/**
 * The ports that this process has been given. A UDP socket on the same number holds each one as long as the process lives:
 * the TCP port stays free for the program that is told it, and no other process is given it.
 */
const given = new Set<Socket>();

/**
 * Returns a port for a program that has to be told its port before it starts. A server that can ask for any port (0) does
 * that instead.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    const holder = await held(port);
    if (holder === undefined) continue;
    if (await isFree(port)) {
      given.add(holder);
      return port;
    }
    holder.close();
  }
}

/** Holds a number for this process; undefined when a process holds it already. */
async function held(port: number): Promise<Socket | undefined> {
  const socket = createSocket('udp4').unref();
  try {
    socket.bind({ port, address: '127.0.0.1', exclusive: true });
    await once(socket, 'listening');
    return socket;
  } catch {
    return undefined;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isListening = new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  });
  if (!(await isListening)) return false;
  server.close();
  await once(server, 'close');
  return true;
}
