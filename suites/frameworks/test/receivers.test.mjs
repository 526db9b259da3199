import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { freePort } from '../../../tools/free-port.ts';
import { furnish, Project, templatesOf } from '../project.mjs';

/** The secret that the README.md of each project writes to `.env`. */
const SECRET = 'only-for-development';

/** The route of each receiver, and the program that replaces the last command of its README. */
const DIFFERENCES = {
  next: { path: '/webhooks/main' },
  // `wrangler dev` runs the same, but asks other machines for updates.
  workers: { server: 'run-worker.mjs' },
  // A function has no server.
  lambda: {
    server: 'run-function.mjs',
    commands: ['npm test', 'npm run build'],
    environment: { WEBHOOK_SECRET: SECRET },
  },
};

const folder = await furnish('receivers');
const from = createRequire(join(folder, 'package.json'));
const { invalidDeliveries, testDelivery } = await import(
  pathToFileURL(from.resolve('@svc/webhook-verify/testing')).href
);

for (const framework of templatesOf(folder, 'create-receiver')) {
  const { path = '/webhooks', server, commands, environment } = DIFFERENCES[framework] ?? {};

  describe(`a receiver that was created for ${framework}`, () => {
    let project;
    let url;
    /** The output of its own tests. */
    let tested = '';

    before(async () => {
      project = await Project.create(folder, 'create-receiver', framework);
      const port = await freePort();
      url = `http://127.0.0.1:${port}${path}`;
      const program = server && `'${execPath}' '${fileURLToPath(new URL(`../${server}`, import.meta.url))}' ${port}`;
      if (commands === undefined) {
        tested = await project.start({ url, environment: { PORT: String(port) }, server: program });
      } else {
        for (const command of commands) tested += await project.run(command);
        await project.startServer({ url, environment, server: program });
      }
    });
    after(() => project.stop());

    test('shows a verified delivery in its own tests', () => {
      assert.match(tested, /^run_0+1 completed: \{"greeting":"Hello, Ada"\}$/m);
    });

    test('accepts a genuine delivery, and handles it once', async () => {
      const delivery = testDelivery({ secret: SECRET, runId: 'run_1', payload: { outputs: { greeting: 'hi' } } });
      for (const attempt of ['first', 'second']) assert.equal((await fetch(url, delivery)).status, 200, attempt);
      const failed = testDelivery({
        secret: SECRET,
        runId: 'run_2',
        type: 'run.failed',
        payload: { error: { code: 'broken', message: '' } },
      });
      assert.equal((await fetch(url, failed)).status, 200);
      await project.shows('run_2 failed: broken');
      assert.equal(project.output.split('run_1 completed: {"greeting":"hi"}').length - 1, 1, project.output);
    });

    test('refuses every invalid delivery', async () => {
      for (const { why, code, ...delivery } of invalidDeliveries({ secret: SECRET, runId: 'run_never' })) {
        const { status } = await fetch(url, delivery);
        assert.ok([400, 401].includes(status), `${why} (${code}): ${status}`);
      }
      assert.doesNotMatch(project.output, /run_never/);
    });

    if (['express', 'fastify', 'hono', 'nest'].includes(framework))
      test('ends with one sentence when its port is taken', async () => {
        const { port } = new URL(url);
        const { code, output } = await project.fails(project.script('start'), { PORT: port });
        assert.equal(code, 1);
        assert.ok(output.includes(`PORT: port ${port} is taken. Stop the other program, or set PORT.`), output);
        assert.doesNotMatch(output, /listening on|^ +at /m);
      });

    test('has types without an error', () => project.run('npm run check'));

    if (framework !== 'lambda') {
      test('shows the delivery that its README.md sends', async () => {
        const script = project.block(1).join('\n');
        assert.ok(script.includes('sign event.json'), script);
        await project.run(script.replace(/http:\/\/127\.0\.0\.1:\d+\S+/, url));
        await project.shows('run_1 completed: {"greeting":"Hello, Ada"}');
      });
    }
  });
}
