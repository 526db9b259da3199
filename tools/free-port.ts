import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections and to servers that ask for any port. */
const [LOWEST, HIGHEST] = [20_000, 32_000];

/** Ports that this process has been given, so that no two are the same before they are bound. */
const given = new Set<number>();

/**
 * Returns a port for a program that has to be told its port before it starts. Another process can take it meanwhile, though
 * none that asks for any port. A server that can ask for any port (0) does that instead.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
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
