import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { freePort } from '../../../tools/free-port.ts';
import { furnish, Project, tool } from '../project.mjs';

const { exchange, exchangeText, LARGE_BODY, LATE_HEAD, MALFORMED_REQUESTS, problemsOf } =
  await tool('malformed-requests.ts');

const folder = await furnish('malformed');
const projects = new Map();
const portOf = (framework) => projects.get(framework).port;

/** Next.js makes its own server, and lets no code before its parser. */
const FRAMEWORKS = ['express', 'fastify', 'hono'];

before(async () => {
  for (const framework of FRAMEWORKS) {
    const project = await Project.create(folder, 'create-host', framework);
    const port = await freePort();
    projects.set(framework, { project, port });
    await project.start({ url: `http://127.0.0.1:${port}/.well-known/svc`, environment: { PORT: String(port) } });
  }
});
after(async () => {
  for (const { project } of projects.values()) await project.stop();
});

for (const framework of FRAMEWORKS) {
  describe(`a host that was created for ${framework}`, () => {
    for (const request of [...MALFORMED_REQUESTS, LARGE_BODY]) {
      test(`answers a request with ${request.name} once, and stamps it`, async () => {
        assert.deepEqual(problemsOf(await exchange(portOf(framework), request), request), []);
      });
    }

    test('keeps the order of the requests of a connection', async () => {
      const first = ['GET /v1/runs/x HTTP/1.1', 'host: a', '', ''].join('\r\n');
      const own = ['GET /workflows/greet HTTP/1.1', 'host: a', 'svc-version: 2', '', ''].join('\r\n');
      const answer = await exchange(portOf(framework), {
        lines: [`${first}${own}GET /runs/y HTTP/1.1`, 'svc-version: 2', 'no colon'],
      });
      const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
      const stamps = [...answer.matchAll(/\r\nsvc-version: (\S+)/gi)].map(([, version]) => version);
      assert.deepEqual(
        [statuses, stamps],
        [
          ['401', '401', '400'],
          ['1.1', '2.0', '2.0'],
        ],
      );
    });
  });
}

test('a head that does not end in time is answered 408 by each of them', async () => {
  const answers = await Promise.all(FRAMEWORKS.map((framework) => exchangeText(portOf(framework), LATE_HEAD.text)));
  for (const answer of answers) assert.deepEqual(problemsOf(answer, LATE_HEAD), []);
});
