import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Delivery } from '@svc/webhook-verify';
import { receive } from '@svc/webhook-verify/receive';
import { standardVerifier } from '@svc/webhook-verify/standard-webhooks';
import { expect } from 'vitest';

/** The time after which a test of hosts counts as hanging, in ms: the limit of `vitest.config.ts`. */
export const HANG_MS = 300_000;

/** A reference host that runs, with a configuration file and a database file. */
export interface RunningHost {
  readonly url: string;
  /** The lines of its log. */
  readonly stderr: readonly string[];
  /** Ends it as fast as it can be ended. */
  end(): Promise<unknown>;
}

/** A reference host in a process of its own. */
export interface BootedHost extends RunningHost {
  readonly process: ChildProcess;
  /** Resolves with the exit code or signal. */
  readonly ended: Promise<number | string>;
}

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/** Makes a folder for the files of one test. `remove` deletes it. */
export function scratch(): { readonly path: (name: string) => string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'svc-host-'));
  return { path: (name) => join(folder, name), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Boots a host and waits until it is ready.
 *
 * @param nodeOptions options of Node, such as a module to load first
 */
export async function bootHost(file: string, config: unknown, nodeOptions: string[] = []): Promise<BootedHost> {
  const host = launch(file, config, nodeOptions);
  for await (const line of createInterface({ input: host.process.stdout ?? process.stdin })) {
    return { ...host, url: JSON.parse(line).url };
  }
  throw new Error(`The host did not become ready: ${host.stderr.join('\n')}`);
}

/** Starts the process of a host. Does not wait until it is ready. */
export function launch(file: string, config: unknown, nodeOptions: string[] = []): Omit<BootedHost, 'url'> {
  writeFileSync(file, JSON.stringify(config));
  const child = spawn(process.execPath, [...nodeOptions, MAIN, '--config', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { lines: stderr, add } = hostLog(String(child.pid));
  createInterface({ input: child.stderr }).on('line', add);
  const ended = new Promise<number | string>((resolve) => {
    // `close` comes after the last line of the log, `exit` may come before.
    child.on('close', (code, signal) => resolve(code ?? signal ?? ''));
  });
  const end = () => {
    child.kill('SIGKILL');
    return ended;
  };
  return { process: child, stderr, ended, end };
}

/**
 * Collects the log of a host. In `.ci/run` the logs of all hosts of a test file are kept in one file of the folder that
 * `SVC_HOST_LOGS` names.
 *
 * @param name begins the lines of the file
 */
export function hostLog(name: string): { readonly lines: readonly string[]; add(line: string): void } {
  const lines: string[] = [];
  const { currentTestName = 'before the tests', testPath } = expect.getState();
  const folder = process.env.SVC_HOST_LOGS;
  if (folder === undefined || testPath === undefined) return { lines, add: (line) => void lines.push(line) };
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${relative(process.cwd(), testPath).replaceAll('/', '.')}.log`);
  appendFileSync(path, `── ${currentTestName} ──\n`);
  return {
    lines,
    add(line) {
      lines.push(line);
      appendFileSync(path, `${name} ${line}\n`);
    },
  };
}

/** A subscriber with a real server, which collects the verified deliveries. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly deliveries: readonly Delivery[];
  /** Statuses of its answers, those of rejected deliveries included. */
  readonly statuses: readonly number[];
  readonly headers: readonly NodeJS.Dict<string | string[]>[];
  /** Bodies of all requests. */
  readonly bodies: readonly Buffer[];
  /** Verifies with this secret from now on. */
  trust(secret: string): void;
  /** Verifies by Standard Webhooks from now on, and answers challenges. */
  trustStandard(...secrets: readonly string[]): void;
  /** The status of every answer. `never`: no answer. Undefined: the result of the verification. */
  answer: number | 'never' | undefined;
  /** Headers of the answers while `answer` is set. */
  answerHeaders: Readonly<Record<string, string>>;
  /** Makes the body of the answers while `answer` is set, of the request. Undefined: there is none. */
  answerBody: ((body: Buffer, headers: NodeJS.Dict<string | string[]>) => string) | undefined;
  /** Forgets all requests and how to answer. Its address stays the same. */
  clear(): void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const statuses: number[] = [];
  const headers: NodeJS.Dict<string | string[]>[] = [];
  const bodies: Buffer[] = [];
  const onDelivery = (delivery: Delivery) => void deliveries.push(delivery);
  let handle = receive({ secret: 'not yet known', onDelivery: () => {} });
  const server: Server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    headers.push(request.headers);
    bodies.push(body);
    if (receiver.answer === 'never') return;
    if (receiver.answer !== undefined) {
      statuses.push(receiver.answer);
      response
        .writeHead(receiver.answer, { ...receiver.answerHeaders })
        .end(receiver.answerBody?.(body, request.headers));
      return;
    }
    const answer = await handle(body, request.headersDistinct);
    statuses.push(answer.status);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    deliveries,
    statuses,
    headers,
    bodies,
    answer: undefined,
    answerHeaders: {},
    answerBody: undefined,
    clear() {
      for (const list of [deliveries, statuses, headers, bodies]) list.length = 0;
      receiver.answer = undefined;
      receiver.answerHeaders = {};
      receiver.answerBody = undefined;
      handle = receive({ secret: 'not yet known', onDelivery: () => {} });
    },
    trust(secret) {
      handle = receive({ secret, onDelivery });
    },
    trustStandard(...secrets) {
      handle = receive({ verifier: standardVerifier(secrets), onDelivery });
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return receiver;
}

/**
 * Waits until `condition` holds.
 *
 * @throws {Error} after two minutes
 */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 120_000; Date.now() < end; ) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`The condition did not hold within 120 s: ${condition}`);
}
