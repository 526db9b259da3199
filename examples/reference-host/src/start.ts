import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { acceptsForeignKey, mintApiKey } from '@svc/auth/api-key';
import { startPostgres } from '@svc/tools/postgres';
import { chosenEngine } from './chosen-engine.ts';
import { developmentConfig, WORKSPACE } from './development-config.ts';
import { showSurvival } from './show-survival.ts';

const engine = chosenEngine(process.argv.slice(2));
if (engine === undefined) {
  console.error('npm start: does not know these arguments. Write npm start, or npm start -- --engine dbos.');
  process.exit(2);
}

// The configuration, the database, the keys and the log of the development host. Delete the folder to start afresh.
const FOLDER = engine === 'dbos' ? join('.svc', 'dbos') : '.svc';
const CONFIG = join(FOLDER, 'config.json');
const DEVELOPMENT = join(FOLDER, 'development.json');

interface Development {
  readonly key: string;
  readonly hostPort: number;
  readonly subscriberPort: number;
  /** The port of this machine that is left for a receiver of the developer's. Absent in the files of older releases. */
  readonly receiverPort?: number;
  /** The workspace of the registration. Absent in the files of older releases. */
  readonly workspace?: string;
  /** The secret of the subscriber's registration. Absent until it is registered. */
  readonly secret?: string;
}

const children: ChildProcess[] = [];
let host: ChildProcess | undefined;
// DBOS needs a PostgreSQL. This one has its data in a temporary folder, which ends with it.
let database = engine === 'dbos' ? await startPostgres({ isApart: true }) : undefined;
let development = await prepare();
let hostUrl: string;
try {
  hostUrl = await startHost();
  if (development.secret === undefined) {
    development = { ...development, secret: await register() };
    save(DEVELOPMENT, development);
  }
  await startSubscriber();
  if (engine === 'dbos') await showSurvival({ url: hostUrl, key: development.key, restart: restartHost });
  introduce();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  stopAll(1);
}

/** Takes the key and the ports of the last start, or mints a key and finds two free ports. Writes the configuration. */
async function prepare(): Promise<Development> {
  mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
  const kept: Development | undefined = existsSync(DEVELOPMENT)
    ? JSON.parse(readFileSync(DEVELOPMENT, 'utf8'))
    : undefined;
  const { key } = kept !== undefined && acceptsForeignKey(kept.key) ? kept : mintApiKey({ mode: 'live', randomBytes });
  const hostPort = await freePort(kept?.hostPort ?? 8787);
  const subscriberPort = await freePort(kept?.subscriberPort ?? 8788);
  const receiverPort = await freePort(kept?.receiverPort ?? 8789);
  // The registration names the workspace and the subscriber's port. In another workspace, on another port, and in a new
  // database, the subscriber has to be registered again.
  const isKept = database === undefined && kept?.subscriberPort === subscriberPort && kept.workspace === WORKSPACE;
  const secret = isKept ? kept.secret : undefined;
  const ports = { hostPort, subscriberPort, receiverPort };
  const prepared = { key, ...ports, workspace: WORKSPACE, ...(secret !== undefined && { secret }) };
  save(DEVELOPMENT, prepared);
  const store =
    database === undefined
      ? { store: `sqlite:${join(FOLDER, 'svc.db')}` }
      : { engine: 'dbos', store: database.url, secretKey: randomBytes(32).toString('base64') };
  save(CONFIG, developmentConfig({ key, hostPort, receiverPorts: [subscriberPort, receiverPort], store }));
  return prepared;
}

/** Ends the host with SIGKILL, and starts another one on its database. */
async function restartHost(): Promise<void> {
  const killed = host;
  killed?.removeAllListeners('exit').kill('SIGKILL');
  await startHost();
}

async function startHost(): Promise<string> {
  const log = openSync(join(FOLDER, 'host.log'), 'a', 0o600);
  const main = fileURLToPath(new URL('./main.js', import.meta.url));
  host = run([main, '--config', CONFIG], ['ignore', 'pipe', log, 'ipc'], {});
  closeSync(log);
  for await (const line of createInterface({ input: host.stdout ?? process.stdin })) {
    const { ready, url } = JSON.parse(line);
    if (ready === true) return url;
  }
  throw new Error(`The host did not start. See ${join(FOLDER, 'host.log')} for the reason.`);
}

/** Registers the example subscriber for events of runs, and returns its secret, which no later response shows. */
async function register(): Promise<string> {
  const response = await fetch(`${hostUrl}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${development.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      url: `http://127.0.0.1:${development.subscriberPort}/`,
      events: ['run.started', 'run.completed', 'run.failed'],
      tenantId: WORKSPACE,
    }),
  });
  if (response.status !== 201)
    throw new Error(`The host refused to register the subscriber (${response.status}): ${await response.text()}`);
  const { secret } = await response.json();
  return secret;
}

async function startSubscriber(): Promise<void> {
  const main = fileURLToPath(new URL('../../subscriber/dist/main.js', import.meta.url));
  const environment = { WEBHOOK_SECRET: development.secret, PORT: String(development.subscriberPort) };
  const subscriber = run([main], ['ignore', 'pipe', 'inherit'], environment);
  const lines = createInterface({ input: subscriber.stdout ?? process.stdin });
  await new Promise((resolve) => lines.once('line', resolve));
  lines.on('line', (line) => console.log(line));
}

function run(
  args: string[],
  stdio: ['ignore', 'pipe', number | 'inherit', 'ipc'?],
  environment: Record<string, string | undefined>,
) {
  const child = spawn(process.execPath, args, { stdio, env: { ...process.env, ...environment } });
  children.push(child);
  child.on('exit', (code) => stopAll(code ?? 1));
  return child;
}

/** Ends all children, with the exit code of the first one that ended. The database ends after them. */
function stopAll(code: number): void {
  process.exitCode ??= code;
  const left = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  for (const child of left) child.kill('SIGTERM');
  if (left.length > 0) return;
  void database?.stop();
  database = undefined;
}

process.on('SIGTERM', () => stopAll(0));
// Ctrl-C sends SIGINT to the children, too. A second signal would end the host at once, so this waits before it sends
// SIGTERM.
process.on('SIGINT', () => {
  process.exitCode = 0;
  setTimeout(() => stopAll(0), 1000).unref();
});

function introduce(): void {
  const create = (workflow: string, inputs: string) =>
    `curl -X POST ${hostUrl}/v1/runs -H 'Authorization: Bearer ${development.key}' \\\n  -H 'Content-Type: application/json' -d '{"workflowId":"${workflow}","inputs":${inputs}}'`;
  console.log(`
The reference host runs at ${hostUrl}. The example subscriber is registered.

API key (development): ${development.key}

Watch runs and deliveries in the console, with this key:

${hostUrl}/console/#key=${development.key}

Create a run in another terminal:

${create('echo', '{"hello":"world"}')}

Create a run that fails:

${create('fail', '{"message":"on purpose"}')}

Read the discovery documents of major 1 and major 2:

curl ${hostUrl}/.well-known/svc
curl -H 'SVC-Version: 2' ${hostUrl}/.well-known/svc

Try every operation with the examples of docs/api.md. The host may also deliver to http://127.0.0.1:${development.receiverPort}/.

Verified deliveries are printed here. The log of the host is ${join(FOLDER, 'host.log')}. Press Ctrl-C to stop both.
`);
}

function save(path: string, value: unknown): void {
  rmSync(path, { force: true });
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
}

/** Returns the wanted port, or a free one when it is in use. */
function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().unref();
    probe.once('error', () =>
      wanted === 0 ? reject(new Error('No port is free on 127.0.0.1. Stop another server.')) : resolve(freePort(0)),
    );
    probe.listen(wanted, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : wanted));
    });
  });
}
