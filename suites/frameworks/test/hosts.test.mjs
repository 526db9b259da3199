import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { freePort } from '../../../tools/free-port.ts';
import { furnish, Project, templatesOf } from '../project.mjs';

const WITHIN_MS = 15_000;

/**
 * The checks that a framework fails by itself, before a request comes to the host. The README of the project says which
 * requests they are. Those of `answers` look at the same 500 as `errors.no-internals`.
 */
const FAILED_BY_ITSELF = {
  next: [
    ...['answers.as-described', 'answers.refusals', 'answers.stamped'],
    ...['authentication.doubled-header-401', 'errors.no-internals'],
  ],
};

/** The exit code after an interruption. Next.js ends the process itself, with the code of the signal. */
const INTERRUPTED = { next: 130 };

const folder = await furnish('hosts');
const from = createRequire(join(folder, 'package.json'));
const { receiver: nodeReceiver } = await import(pathToFileURL(from.resolve('@svc/webhook-verify/node')).href);

// Each is started with the commands of its README.md.
for (const framework of templatesOf(folder, 'create-host')) {
  describe(`a host that was created for ${framework}`, () => {
    let project;
    let origin;
    let authorization;
    let environment;
    const received = [];
    const secrets = [];
    // Its secret is known once the webhook is registered.
    const receiver = createServer((request, response) => {
      const onDelivery = ({ event }) => void received.push(event);
      nodeReceiver({ secret: secrets, onDelivery })(request, response);
    });

    before(async () => {
      receiver.listen(0, '127.0.0.1');
      await once(receiver, 'listening');
      project = await Project.create(folder, 'create-host', framework);
      const port = await freePort();
      origin = `http://127.0.0.1:${port}`;
      environment = { PORT: String(port), RECEIVER_PORT: String(receiver.address().port) };
      const output = await project.start({ url: `${origin}/.well-known/svc`, environment });
      assert.match(output, /^verified run\.completed of run_\w+: \{"outputs":\{"greeting":"Hello, Ada"\}/m, 'npm test');
      const [key] = /svc_live_[0-9a-f]+/.exec(output) ?? [];
      authorization = `Bearer ${key}`;
    });
    after(async () => {
      await project.stop();
      receiver.close();
    });

    /** Calls the host with the key, and returns the status, the version and the JSON of the answer. */
    async function call(path, { body, headers = {} } = {}) {
      const json = body === undefined ? {} : { 'content-type': 'application/json' };
      const response = await fetch(origin + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization, ...json, ...headers },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await response.text();
      const version = response.headers.get('svc-version');
      return { status: response.status, version, body: text.startsWith('{') ? JSON.parse(text) : text };
    }

    const MAJORS = [
      { major: 1, prefix: '/v1', headers: {}, version: '1.1' },
      { major: 2, prefix: '', headers: { 'SVC-Version': '2' }, version: '2.0' },
    ];

    test('answers 401 without a key, on its own route too', async () => {
      for (const path of ['/v1/runs/run_1', '/v1/workflows/greet']) {
        assert.equal((await call(path, { headers: { authorization: '' } })).status, 401, path);
      }
    });

    test('keeps the hash of the key alone, and its secret key to itself', () => {
      assert.doesNotMatch(readFileSync(join(project.folder, '.env'), 'utf8'), /svc_live_/);
      if (process.platform !== 'win32')
        assert.equal(statSync(join(project.folder, 'svc.db-secret-key')).mode & 0o77, 0);
      assert.ok(existsSync(join(project.folder, 'svc.db')));
    });

    for (const { major, prefix, headers, version } of MAJORS) {
      test(`completes a run of major ${major}, and delivers its event to a webhook`, async () => {
        const url = `http://127.0.0.1:${receiver.address().port}/`;
        const registration = { url, events: ['run.completed'], ...(major === 1 && { tenantId: 'main' }) };
        const webhook = await call(`${prefix}/webhooks`, { body: registration, headers });
        assert.equal(webhook.status, 201, JSON.stringify(webhook.body));
        secrets.push(webhook.body.secret);

        const body = { workflowId: 'greet', inputs: { name: `major ${major}` } };
        const created = await call(`${prefix}/runs`, { body, headers });
        assert.deepEqual([created.status, created.version], [201, version]);
        const isAbout = ({ payload }) => payload.outputs?.greeting === `Hello, major ${major}`;
        await until(
          () => received.some(isAbout),
          () => `${JSON.stringify(received)}\n${project.output}`,
        );
        const run = await call(`${prefix}/runs/${encodeURIComponent(created.body.runId)}`, { headers });
        assert.deepEqual([run.status, run.version, run.body.status], [200, version, 'completed']);
      });

      test(`reads the caller and major ${major} in a route of its own`, async () => {
        const answer = await call(`${prefix}/workflows/greet`, { headers });
        assert.deepEqual(answer, {
          status: 200,
          version,
          body: { workflowId: 'greet', name: 'Greets by name', tenant: 'acme', major },
        });
        const unknown = await call(`${prefix}/workflows/nothing`, { headers });
        assert.deepEqual([unknown.status, unknown.version, unknown.body.error], [404, version, 'not_found']);
      });
    }

    test('refuses a version that it does not serve, in every route', async () => {
      const headers = { 'SVC-Version': '3' };
      for (const path of ['/runs/run_1', '/workflows/greet']) {
        assert.equal((await call(path, { headers })).status, 406, path);
        assert.equal((await call(`/v1${path}`, { headers })).status, 400, `/v1${path}`);
      }
    });

    test('streams the events of a run to their end', async () => {
      const { body: created } = await call('/v1/runs', { body: { workflowId: 'greet', inputs: { name: 'Ada' } } });
      const response = await fetch(origin + created.eventsUrl, { headers: { authorization } });
      assert.equal(response.headers.get('content-type')?.split(';')[0], 'text/event-stream');
      assert.match(await response.text(), /event: run\.completed/);
    });

    test('fails no check of the suite that its framework leaves to the host, and is told the fixtures of the others', async () => {
      const [key] = /svc_live_[0-9a-f]+/.exec(authorization) ?? [];
      const command = `npx -p @svc/conformance svc-conformance ${origin} --json report.json`;
      const { code, output } = await project.fails(command, { SVC_KEY: key });
      const { results, summary, missing } = JSON.parse(readFileSync(join(project.folder, 'report.json'), 'utf8'));
      const failed = results.filter(({ outcome }) => outcome === 'failed' || outcome === 'warned');
      const known = FAILED_BY_ITSELF[framework] ?? [];
      assert.deepEqual(
        [[...new Set(failed.map(({ id }) => id))].sort(), code],
        [known, known.length > 0 ? 1 : 3],
        output,
      );
      assert.ok(summary.passed >= 100, `${summary.passed} checks passed`);
      const isOfAFixture = ({ reason }) => /^fixtures\[\] of the host does not list conformance-/.test(reason);
      assert.deepEqual(
        missing.filter((want) => !isOfAFixture(want)),
        [],
      );
    });

    test('has its runs after it was killed, and stops in order when it is interrupted', async () => {
      const { body: created } = await call('/v1/runs', { body: { workflowId: 'greet', inputs: { name: 'Ada' } } });
      const statusOf = async () => (await call(created.statusUrl)).body.status;
      await until(async () => (await statusOf()) === 'completed', statusOf);
      await project.stop();
      await project.startServer({ url: `${origin}/.well-known/svc`, environment, server: project.script('start') });
      assert.equal(await statusOf(), 'completed');
      assert.equal(await project.interrupt(), INTERRUPTED[framework] ?? 0);
    });

    // Next.js has its own server and its own sentence.
    if (framework !== 'next')
      test('ends with one sentence when its port is taken', async () => {
        const port = String(receiver.address().port);
        const second = { PORT: port, DATABASE: 'second.db' };
        const { code, output } = await project.fails(project.script('start'), second);
        assert.equal(code, 1);
        assert.ok(
          output.includes(
            `listen: port ${port} of 127.0.0.1 is taken. Stop the other program, or choose another port.`,
          ),
          output,
        );
        assert.doesNotMatch(output, /the host is at|^ +at /m);
      });

    // The build of Next.js checks them.
    if (framework !== 'next') test('has types without an error', () => project.run('npm run check'));
  });
}

/** Waits until a condition holds. */
async function until(holds, describe) {
  const deadline = Date.now() + WITHIN_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) assert.fail(String(await describe()));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
