import { Agent, request as httpRequest } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { freePort } from '@svc/tools/free-port';
import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BootedHost, bootHost, eventually, launch, scratch } from './booted-host.ts';

const KEY = 'operator_brought_key_of_enough_characters';
const CLIENTS = 12;

let folder: ReturnType<typeof scratch>;
const booted: BootedHost[] = [];

beforeEach(() => {
  folder = scratch();
});
afterEach(async () => {
  for (const host of booted.splice(0)) {
    host.process.kill('SIGKILL');
    await host.ended;
  }
  folder.remove();
});

function configOf(port: number, config: object): object {
  return {
    listen: { port },
    store: `sqlite:${folder.path('svc.db')}`,
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    apiKeys: [
      {
        ...{ id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['*'], principal: 'p_1' },
        scopes: ['runs:create', 'runs:read'],
      },
    ],
    // On a machine whose disk stalls, a request takes longer than the default.
    shutdown: { graceMs: 60_000 },
    ...config,
  };
}

async function boot(port: number, config: object = {}, nodeOptions: string[] = []): Promise<BootedHost> {
  const host = await bootHost(folder.path(`${port}.json`), configOf(port, config), nodeOptions);
  booted.push(host);
  return host;
}

/**
 * Creates a run on a connection of the agent, and returns the status of the answer. A new connection that is reset counts
 * as refused: the listener closed before the host saw it. That the host did see no request of it, the number of runs says.
 */
function createRun(port: number, agent: Agent): Promise<number> {
  const body = JSON.stringify({ workflowId: 'echo' });
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, method: 'POST', path: '/v1/runs', headers, agent });
    request
      .on('response', (response) => {
        response
          .on('error', reject)
          .on('end', () => resolve(response.statusCode ?? 0))
          .resume();
      })
      .on('error', (error: NodeJS.ErrnoException) => {
        reject(error.code === 'ECONNRESET' && !request.reusedSocket ? new RefusedConnection() : error);
      })
      .end(body);
  });
}

class RefusedConnection extends Error {
  readonly code = 'ECONNREFUSED';
}

/** Clients that keep their connections, and go to the next port when one accepts none. */
function clients(ports: readonly number[]) {
  const seen = { created: 0, cut: [] as string[], others: [] as number[] };
  let isOver = false;
  const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
  const one = async (first: number) => {
    const agents = ports.map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
    for (let at = first % ports.length; !isOver; ) {
      try {
        const status = await createRun(ports[at] ?? 0, agents[at] ?? new Agent());
        if (status === 201) seen.created++;
        else {
          // A host that starts answers 503 until it is ready.
          if (status !== 503) seen.others.push(status);
          at = (at + 1) % ports.length;
          await pause();
        }
      } catch (error) {
        const { code = 'no code' } = error as NodeJS.ErrnoException;
        if (code !== 'ECONNREFUSED') seen.cut.push(code);
        at = (at + 1) % ports.length;
        await pause();
      }
    }
    for (const agent of agents) agent.destroy();
  };
  const running = Promise.all(Array.from({ length: CLIENTS }, (_, index) => one(index)));
  return {
    seen,
    /** Waits until another 60 runs are created. */
    async busy() {
      const until = seen.created + 60;
      await eventually(() => seen.created >= until);
    },
    async end() {
      isOver = true;
      await running;
    },
  };
}

async function runsIn(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('SELECT count(*)::integer AS runs FROM svc.runs');
  await client.end();
  return rows[0].runs;
}

test('a rolling restart of two hosts cuts off no request of twelve clients that keep their connections', async () => {
  const postgres = await startPostgres();
  const shared = { store: postgres.url, secretKey: Buffer.alloc(32, 7).toString('base64') };
  const ports = [await freePort(), await freePort()];
  const hosts = [];
  for (const port of ports) hosts.push(await boot(port, shared));
  const load = clients(ports);
  for (const [index, port] of ports.entries()) {
    await load.busy();
    hosts[index]?.process.kill('SIGTERM');
    expect(await hosts[index]?.ended).toBe(0);
    await load.busy();
    hosts[index] = await boot(port, shared);
  }
  await load.busy();
  await load.end();
  expect(load.seen).toMatchObject({ cut: [], others: [] });
  expect(await runsIn(postgres.url)).toBe(load.seen.created);
  await postgres.stop();
});

test('two hosts are rolled to the next release and back under load: no request is cut off, and no run is lost', async () => {
  const postgres = await startPostgres();
  const shared = { store: postgres.url, secretKey: Buffer.alloc(32, 7).toString('base64') };
  const asked = async (sql: string) => {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    const { rows } = await client.query(sql);
    await client.end();
    return rows;
  };
  const next = (query = '') => ['--import', new URL(`next-release.mjs${query}`, import.meta.url).href];
  const ports = [await freePort(), await freePort()];
  const hosts: BootedHost[] = [];
  for (const port of ports) hosts.push(await boot(port, shared));
  const [{ version } = { version: 0 }] = await asked('SELECT version FROM svc.schema_version');
  const load = clients(ports);
  for (const release of [next(), []]) {
    for (const [index, port] of ports.entries()) {
      await load.busy();
      hosts[index]?.process.kill('SIGTERM');
      expect(await hosts[index]?.ended).toBe(0);
      await load.busy();
      hosts[index] = await boot(port, shared, release);
    }
    expect(await asked('SELECT version FROM svc.schema_version')).toEqual([{ version: version + 1 }]);
  }
  await load.busy();
  await load.end();
  expect(load.seen).toMatchObject({ cut: [], others: [] });
  await eventually(async () => {
    const runs = await asked('SELECT status, count(*)::integer FROM svc.runs GROUP BY status');
    return runs.length === 1 && runs[0]?.status === 'completed' && runs[0]?.count === load.seen.created;
  });

  // A release that removes what the present one needs waits until no host of that runs, and then refuses it.
  const port = await freePort();
  const early = launch(folder.path('early.json'), configOf(port, shared), next('?contract'));
  expect(await early.ended).toBe(2);
  expect(early.stderr.at(-1)).toMatch(
    new RegExp(`^Hosts that know schema version ${version} use the database, and the migration removes what hosts`),
  );
  for (const host of hosts) {
    host.process.kill('SIGTERM');
    expect(await host.ended).toBe(0);
  }
  await boot(port, shared, next('?contract'));
  const late = launch(folder.path('late.json'), configOf(await freePort(), shared));
  expect(await late.ended).toBe(2);
  expect(late.stderr.at(-1)).toBe(
    `The database has schema version ${version + 2}; this version of the kit knows ${version}, and hosts need to know ${version + 2} for it. Upgrade the kit.`,
  );
  await postgres.stop();
});

test('a restart of one host cuts off no request of twelve clients that keep their connections', async () => {
  const port = await freePort();
  let host = await boot(port);
  const load = clients([port]);
  for (let restart = 0; restart < 2; restart++) {
    await load.busy();
    host.process.kill('SIGTERM');
    expect(await host.ended).toBe(0);
    host = await boot(port);
  }
  await load.busy();
  await load.end();
  expect(load.seen).toMatchObject({ cut: [], others: [] });
  host.process.kill('SIGTERM');
  expect(await host.ended).toBe(0);
  const database = new DatabaseSync(folder.path('svc.db'), { timeout: 10_000, readOnly: true });
  expect(database.prepare('SELECT count(*) AS runs FROM runs').get()).toEqual({ runs: load.seen.created });
  database.close();
});

test('a host that stops ends a stream, and tells its reader when to come back', async () => {
  const host = await boot(0);
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ workflowId: 'approval' });
  const created = await (await fetch(`${host.url}/v1/runs`, { method: 'POST', headers, body })).json();
  const stream = await fetch(host.url + created.eventsUrl, { headers });
  let received = '';
  const read = (async () => {
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) received += chunk;
  })();
  await eventually(() => received.includes('event: node.suspended'));
  host.process.kill('SIGTERM');
  // Rejects when the stream is cut off instead.
  await read;
  expect(received).toMatch(/\nretry: 1000\n\n$/);
  expect(await host.ended).toBe(0);
});
