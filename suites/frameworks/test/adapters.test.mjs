import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { freePort } from '../../../tools/free-port.ts';
import { furnish, Project } from '../project.mjs';

const PROGRAMS = fileURLToPath(new URL('../node_modules/', import.meta.url));

const folder = await furnish('adapters');
cpSync(fileURLToPath(new URL('../adapters/', import.meta.url)), folder, { recursive: true });
cpSync(join(folder, 'auth.ts'), join(folder, 'next/make-auth.ts'));

// The programs use each framework with its own types, so a guard that does not fit them does not compile.
const compiler = join(PROGRAMS, 'typescript/bin/tsc');
const { status, stdout } = spawnSync(execPath, [compiler, '-p', folder], { encoding: 'utf8', timeout: 300_000 });
assert.equal(status, 0, stdout);

const built = (name) => import(pathToFileURL(join(folder, 'dist', name)).href);
const { KEYS } = await built('auth.js');

/** Asks a server with one of the keys. */
async function get(url, key) {
  const headers = key === undefined ? {} : { authorization: `Bearer ${KEYS[key] ?? key}` };
  const response = await fetch(url, { headers });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

/** Frameworks with the same routes: `runs` needs a scope, `tokens` takes tokens alone, `page` needs no credential. */
const FRAMEWORKS = {
  'NestJS on Express': async () => (await built('nestjs.js')).start(),
  'NestJS on Fastify': async () => (await built('nestjs.js')).startOnFastify(),
  'h3, version 2': async () => (await built('h3.js')).start(),
  'h3, version 1, as Nitro 2 has it': async () => (await built('h3.js')).startFormer(),
};

for (const [name, start] of Object.entries(FRAMEWORKS)) {
  describe(name, () => {
    let running;
    const at = (path, key) => get(`${running.url}${path}`, key);
    before(async () => {
      running = await start();
    });
    after(() => running.stop());

    test('admits a caller with the scope, and refuses others', async () => {
      const { status, body } = await at('/runs', 'reader');
      assert.deepEqual({ status, body }, { status: 200, body: 'p_r' });
      const absent = await at('/runs');
      assert.equal(absent.status, 401);
      assert.equal(absent.headers.get('www-authenticate'), 'Bearer');
      assert.match(absent.headers.get('content-type'), /^application\/json/);
      assert.equal(JSON.parse(absent.body).error, 'unauthenticated');
      const lacking = await at('/runs', 'writer');
      assert.equal(lacking.status, 403);
      assert.equal(JSON.parse(lacking.body).scopeRequired, 'runs:read');
    });

    test('asks the lanes of a route alone', async () => {
      assert.equal((await at('/tokens', 'reader')).status, 401);
    });

    test('serves a page without a credential, and refuses a wrong one', async () => {
      assert.equal((await at('/page')).body, 'nobody');
      assert.equal((await at('/page', 'reader')).body, 'p_r');
      assert.equal((await at('/page', 'no-key-of-this-host-0123456789abcd')).status, 401);
      assert.equal((await at('/page', 'writer')).status, 403);
    });

    test('leaves open routes alone, where the caller is an error', async () => {
      assert.equal((await at('/open', 'no-key-of-this-host-0123456789abcd')).body, 'open');
      assert.equal((await at('/unguarded', 'reader')).status, 500);
    });

    test('counts the limit of a key over all routes', async () => {
      const first = await at('/runs', 'slow');
      assert.deepEqual([first.status, first.headers.get('ratelimit-policy')], [200, '"default";q=2;w=86400']);
      assert.equal((await at('/page', 'slow')).status, 200);
      const third = await at('/runs', 'slow');
      assert.equal(third.status, 429);
      assert.match(third.headers.get('retry-after'), /^\d+$/);
    });
  });
}

describe('the rules of NestJS', () => {
  let running;
  before(async () => {
    running = await (await built('nestjs.js')).start();
  });
  after(() => running.stop());

  test('a controller has the rule of the one that it extends', async () => {
    assert.equal((await get(`${running.url}/derived`, 'reader')).status, 403);
    assert.equal((await get(`${running.url}/derived`, 'writer')).status, 200);
  });

  test('the rule of a method stays when another decorator replaces the method', async () => {
    assert.equal((await get(`${running.url}/derived/wrapped`, 'writer')).status, 403);
  });
});

describe('tRPC', () => {
  let running;
  const at = (path, key) => get(`${running.url}/${path}`, key);
  const code = ({ body }) => [JSON.parse(body)].flat().map(({ error, result }) => error?.data.code ?? result.data);
  before(async () => {
    running = await (await built('trpc.js')).start();
  });
  after(() => running.stop());

  test('a procedure asks for its scope', async () => {
    assert.deepEqual(code(await at('runs', 'reader')), ['p_r']);
    const lacking = await at('create', 'reader');
    assert.deepEqual([lacking.status, ...code(lacking)], [403, 'FORBIDDEN']);
    const absent = await at('runs');
    assert.deepEqual([absent.status, ...code(absent)], [401, 'UNAUTHORIZED']);
    assert.equal(absent.headers.get('www-authenticate'), 'Bearer');
  });

  test('a procedure without a scope is open', async () => {
    const { status, headers, body } = await at('page');
    assert.deepEqual([status, headers.get('www-authenticate'), ...code({ body })], [200, null, 'nobody']);
    assert.deepEqual(code(await at('page', 'reader')), ['p_r']);
  });

  test('a batch is one request, and each of its procedures is judged', async () => {
    const batch = 'runs,create,page?batch=1';
    assert.deepEqual(code(await at(batch, 'slow')), ['p_s', 'FORBIDDEN', 'p_s']);
    assert.deepEqual(code(await at(batch, 'slow')), ['p_s', 'FORBIDDEN', 'p_s']);
    const third = await at('runs', 'slow');
    assert.deepEqual([third.status, ...code(third)], [429, 'TOO_MANY_REQUESTS']);
    assert.match(third.headers.get('retry-after'), /^\d+$/);
  });

  test('the Fetch adapter does the same', async () => {
    const handle = (await built('trpc.js')).makeHandler();
    const ask = (headers) => handle(new Request('https://svc.example/runs', { headers }));
    assert.equal((await ask({ authorization: `Bearer ${KEYS.reader}` })).status, 200);
    const absent = await ask({});
    assert.deepEqual([absent.status, absent.headers.get('www-authenticate')], [401, 'Bearer']);
  });
});

describe('Next.js', () => {
  const project = new Project(join(folder, 'next'));
  let url;
  const at = (path, key) => get(`${url}${path}`, key);
  before(async () => {
    await project.run('next build');
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    await project.startServer({ url: `${url}/page-of-caller`, server: `next start -H 127.0.0.1 -p ${port}` });
  });
  after(() => project.stop());

  test('a route has the caller beside the request and the parameters of Next.js', async () => {
    const { status, body } = await at('/runs/run_1?part=log', 'reader');
    assert.deepEqual([status, JSON.parse(body)], [200, { caller: 'p_r', run: 'run_1', part: 'log' }]);
    assert.equal((await at('/runs/run_1')).status, 401);
    assert.equal((await at('/runs/run_1', 'writer')).status, 403);
  });

  test('a route whose credential is optional', async () => {
    assert.equal((await at('/page-of-caller')).body, 'nobody');
    assert.equal((await at('/page-of-caller', 'writer')).body, 'p_w');
    assert.equal((await at('/page-of-caller', 'no-key-of-this-host-0123456789abcd')).status, 401);
  });

  test('a middleware lets admitted requests on, with the headers of the limit', async () => {
    const { status, headers, body } = await at('/behind/runs', 'slow');
    assert.deepEqual([status, body], [200, 'behind the proxy']);
    assert.equal(headers.get('ratelimit-policy'), '"default";q=2;w=86400');
    const absent = await at('/behind/runs');
    assert.deepEqual([absent.status, JSON.parse(absent.body).error], [401, 'unauthenticated']);
    assert.equal((await at('/behind/runs', 'writer')).status, 403);
  });
});
