import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type Host, type Store } from '@svc/host-kit';
import { type ListenOptions, listen, toNodeListener } from '@svc/host-kit/node';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { describe, expect, onTestFinished, test } from 'vitest';

const KEY = 'operator-key-of-this-test-0123456789';
const scopes = ['runs:create', 'runs:read'];
const keys = memoryKeyStore([
  {
    ...{ id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['main'] },
    principal: 'p_1',
    scopes,
    mode: 'live',
  },
]);

/** A store that tells when it is closed. */
function closable(): { readonly store: Store; readonly isClosed: () => boolean } {
  const store = memoryStore();
  let isClosed = false;
  const close = async () => {
    isClosed = true;
    await store.close();
  };
  return { store: { ...store, close }, isClosed: () => isClosed };
}

function newHost(store: Store = memoryStore()): Host {
  return createHost({
    ...{ store, authenticate: [apiKeyLane({ keys })], secretKey: new Uint8Array(32) },
    engine: async () => ({}),
    ports: { log: () => {} },
  });
}

/** Serves a host on a port of the system's choice. No signal of the test runner stops it. */
async function serving(host: Host, options: ListenOptions = {}) {
  const listening = await listen(host, 0, { stopOn: [], ...options });
  onTestFinished(() => listening.stop());
  return listening;
}

const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
const create = (url: string) =>
  fetch(`${url}/v1/runs`, { method: 'POST', headers, body: JSON.stringify({ workflowId: 'any' }) });

describe('listen', () => {
  test('starts a host, serves it, and stops it', async () => {
    const { store, isClosed } = closable();
    const { url, stop, stopped, server } = await serving(newHost(store));
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await create(url)).status).toBe(201);
    await Promise.all([stop(), stop(), stopped]);
    expect([isClosed(), server.listening]).toEqual([true, false]);
  });

  test('answers probes while the host starts, and nothing else', async () => {
    const host = newHost();
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    let continued = () => {};
    const start = async () => {
      begin();
      await new Promise<void>((resolve) => {
        continued = resolve;
      });
      await host.start();
    };
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const under = listen({ ...host, start }, port, { stopOn: [] });
    onTestFinished(async () => (await under).stop());
    await begun;
    const early = await create(`http://127.0.0.1:${port}`);
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await fetch(`http://127.0.0.1:${port}/host/example/livez`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${port}/host/example/readyz`)).status).toBe(503);
    continued();
    const { url } = await under;
    expect((await create(url)).status).toBe(201);
  });

  test('serves an app in place of the host, and refuses malformed requests before it', async () => {
    const host = newHost();
    const asked: string[] = [];
    const serveHost = toNodeListener(host);
    const listener: RequestListener = (request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/hello') response.end('hello');
      else serveHost(request, response);
    };
    const { url } = await serving(host, { listener });
    expect(await (await fetch(`${url}/hello`)).text()).toBe('hello');
    expect((await create(url)).status).toBe(201);
    // The host answers it, and has no such path.
    expect((await fetch(`${url}/hello/%ff`)).status).toBe(404);
    expect(asked).toEqual(['/hello', '/v1/runs']);
  });

  test('a port that is taken is told before the host starts, and the host is stopped', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const { store, isClosed } = closable();
    const host = newHost(store);
    let isStarted = false;
    const start = async () => {
      isStarted = true;
      await host.start();
    };
    const message = `listen: port ${port} of 127.0.0.1 is taken. Stop the other program, or choose another port.`;
    const refused = listen({ ...host, start }, port, { stopOn: [] });
    await expect(refused).rejects.toMatchObject({ message, code: 'EADDRINUSE', stack: `Error: ${message}` });
    expect([isStarted, isClosed()]).toEqual([false, true]);
  });

  test('an address of another machine is told', async () => {
    await expect(listen(newHost(), 0, { address: '192.0.2.1', stopOn: [] })).rejects.toThrow(
      'listen: this machine does not have the address 192.0.2.1. Leave it out for 127.0.0.1, or pass 0.0.0.0.',
    );
  });

  test('a host that cannot start is stopped, and its server, too', async () => {
    const { store, isClosed } = closable();
    const host = newHost(store);
    const start = async () => {
      throw new TypeError('secretKey: the database holds other records.');
    };
    await expect(listen({ ...host, start }, 0, { stopOn: [] })).rejects.toThrow('the database holds other records');
    expect(isClosed()).toBe(true);
  });

  test.each<[string, number, object, string]>([
    [
      'a port above 65535',
      65_536,
      {},
      'listen: port must be a whole number from 0 to 65535. Pass a number, not a text.',
    ],
    ['no port', undefined as never, {}, 'listen: port is required. Pass a number such as 8787.'],
    ['a port that is no number', Number.NaN, {}, 'listen: port must be a whole number'],
    ['an unknown option', 0, { adress: '::1' }, 'listen: unknown option adress. Did you mean address?'],
    ['a grace that is negative', 0, { graceMs: -1 }, 'orderlyStop: graceMs must be a whole number of ms'],
    ['no connection', 0, { maxConnections: 0 }, 'hostServer: maxConnections must be a whole number from 1'],
  ])('%s is refused', async (_, port, options, message) => {
    const host = newHost();
    onTestFinished(() => host.stop(0));
    const refused: Promise<unknown> = Reflect.apply(listen, undefined, [host, port, options]);
    await expect(refused).rejects.toThrow(message);
  });
});

describe('the process of a host that listens', () => {
  const PROGRAM = fileURLToPath(new URL('listening-program.ts', import.meta.url));

  /** Starts a program with a host. Resolves when it serves requests. */
  async function program(...args: readonly string[]) {
    const child: ChildProcess = spawn(execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const lines: string[] = [];
    if (child.stdout === null) throw new Error('The program has no output.');
    const output = createInterface(child.stdout);
    const first = once(output, 'line');
    output.on('line', (line) => lines.push(line));
    await first;
    return { child, lines, url: lines[0] ?? '', ended: once(child, 'exit') };
  }

  test.each(['SIGTERM', 'SIGINT'] as const)('ends by itself after %s, when the host has stopped', async (signal) => {
    const { child, lines, url, ended } = await program();
    expect((await create(url)).status).toBe(201);
    child.kill(signal);
    expect(await ended).toEqual([0, null]);
    expect(lines.slice(1)).toEqual(['stopped']);
  });

  test('ends at once at a second signal', async () => {
    const { child, url, ended } = await program('--never-answers');
    const open = fetch(`${url}/slow`).catch(() => 'cut off');
    await fetch(`${url}/asked`);
    child.kill('SIGTERM');
    // The first signal has been taken when the server says that it leaves.
    for (;;) {
      const asked = await fetch(`${url}/asked`).catch(() => undefined);
      if (asked === undefined || asked.headers.get('connection') === 'close') break;
    }
    child.kill('SIGTERM');
    expect(await ended).toEqual([143, null]);
    expect(await open).toBe('cut off');
  });

  test('ends at once at a signal during the start', async () => {
    const { child, lines, ended } = await program('--starts-for-ever');
    expect(lines).toEqual(['starting']);
    child.kill('SIGTERM');
    expect(await ended).toEqual([143, null]);
  });

  test.each([
    ['--lost', ['stopped']],
    ['--lost-and-kept-open', ['stopped', 'warn process.kept-open']],
  ])('ends with the exit code 1 when the store is lost, with %s', async (mode, told) => {
    const { lines, ended } = await program(mode);
    expect(await ended).toEqual([1, null]);
    expect(lines.slice(1)).toEqual(told);
  });

  test('ends with the exit code 1 when the store does not close', async () => {
    const { child, lines, ended } = await program('--never-stops');
    child.kill('SIGTERM');
    expect(await ended).toEqual([1, null]);
    expect(lines.slice(1)).toEqual(['error host.stop-late']);
  });

  test('ends, and says why it was late, when something else keeps it open', async () => {
    const { child, lines, ended } = await program('--kept-open');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(lines.slice(1)).toEqual(['stopped', 'warn process.kept-open']);
  });

  test('ends with the exit code 1 when the host cannot be stopped in order', async () => {
    const { child, ended } = await program('--cannot-stop');
    child.kill('SIGTERM');
    expect(await ended).toEqual([1, null]);
  });
});
