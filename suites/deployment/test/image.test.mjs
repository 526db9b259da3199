import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../../tools/free-port.ts';
import { CHECKOUT, dockerInstructions, EXAMPLE, imageEnvironment, imageInstructions, textOf } from './deploy-files.mjs';
import { bootImage, filledConfiguration, layOutImage, runInImage } from './image-host.mjs';

let root;

before(async () => {
  root = mkdtempSync(join(tmpdir(), 'svc-image-'));
  await layOutImage(root);
});

after(() => rmSync(root, { recursive: true, force: true }));

const one = (keyword) => imageInstructions().find((instruction) => instruction.keyword === keyword);

describe('the Dockerfile', () => {
  test('builds every stage on the Node of the project, without its build tools in the image', () => {
    const [argument, ...instructions] = dockerInstructions();
    const { node } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')).devDependencies;
    assert.equal(argument.text, `NODE=node:${node}-bookworm-slim`);
    const stages = instructions.filter(({ keyword }) => keyword === 'FROM').map(({ text }) => text);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the Dockerfile
    assert.deepEqual(stages, ['${NODE} AS build', '${NODE} AS telemetry', '${NODE}']);
  });

  test('needs no shell: each command is a list of words', () => {
    const commands = dockerInstructions().filter(({ keyword }) =>
      /^(RUN|CMD|ENTRYPOINT|HEALTHCHECK|SHELL)$/.test(keyword),
    );
    assert.ok(commands.length >= 5);
    for (const { keyword, exec } of commands) {
      assert.ok(Array.isArray(exec), keyword);
      assert.doesNotMatch(exec[0], /^(ba|da)?sh$/);
    }
  });

  test('runs as a user that is not root, and opens the ports of the host and of its metrics', () => {
    assert.match(one('USER').text, /^[1-9]\d*:[1-9]\d*$/);
    assert.equal(one('EXPOSE').text, `${EXAMPLE.listen.port} ${imageEnvironment().OTEL_EXPORTER_PROMETHEUS_PORT}`);
  });

  test('copies single files of the context, which no key, database or configuration is part of', () => {
    const [first] = textOf('Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => !line.startsWith('#'));
    assert.equal(first, '*');
    const copied = imageInstructions().filter(({ keyword, flags }) => keyword === 'COPY' && flags.length === 0);
    assert.deepEqual(
      copied.map(({ words }) => words),
      [['LICENSE', 'deploy/livez.mjs', '/opt/svc/']],
    );
    assert.ok(!dockerInstructions().some(({ keyword }) => keyword === 'ADD'));
  });
});

describe('the files of the image', () => {
  test('refuse the example configuration until its placeholders are filled in', async () => {
    const { exec } = one('ENTRYPOINT');
    const file = join(CHECKOUT, 'deploy/host.example.json');
    const port = String(await freePort());
    const addresses = { OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1', OTEL_EXPORTER_PROMETHEUS_PORT: port };
    const child = runInImage(root, exec, { SVC_HOST_CONFIG: file, ...addresses });
    let text = '';
    child.stderr.on('data', (chunk) => {
      text += chunk;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 2, text);
    const paths = text
      .trim()
      .split('\n')
      .map((line) => line.split(':')[0]);
    assert.deepEqual(paths, ['secretKey', 'apiKeys[0].hash']);
  });

  test('the health check follows the host', async () => {
    const health = async (file) => {
      const child = runInImage(root, one('HEALTHCHECK').exec, { SVC_HOST_CONFIG: file });
      return (await once(child, 'exit'))[0];
    };
    const port = await freePort();
    const metrics = String(await freePort());
    const file = filledConfiguration(root, {
      listen: { host: '127.0.0.1', port },
      store: 'memory:',
      shutdown: { drainMs: 0 },
    });
    assert.equal(await health(file), 1);
    const addresses = { OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1', OTEL_EXPORTER_PROMETHEUS_PORT: metrics };
    const host = await bootImage(root, file, addresses);
    assert.equal(await health(file), 0);
    assert.equal(await host.stop(), 0, host.log.join('\n'));
    assert.equal(await health(file), 1);
  });

  test('a host whose metrics cannot be served does not start, and says why', async () => {
    const port = await freePort();
    const file = filledConfiguration(root, { listen: { host: '127.0.0.1', port }, store: 'memory:' });
    const addresses = { OTEL_EXPORTER_PROMETHEUS_HOST: '192.0.2.1', OTEL_EXPORTER_PROMETHEUS_PORT: '9464' };
    await assert.rejects(
      bootImage(root, file, addresses),
      /ended with 1: OTEL_EXPORTER_PROMETHEUS_PORT: .*EADDRNOTAVAIL/,
    );
  });
});

const docker = (...args) => spawnSync('docker', args, { encoding: 'utf8', cwd: CHECKOUT });

// The files of the image are run above without a container. Where a runtime answers, the image itself is.
if (docker('info').status === 0) {
  test('the image is built, and its container becomes healthy', async () => {
    const built = docker('build', '-f', 'deploy/Dockerfile', '-t', 'svc-host:suite', '.');
    assert.equal(built.status, 0, built.stderr);
    const file = filledConfiguration(root, { store: 'memory:', shutdown: { drainMs: 0 } });
    const started = docker('run', '-d', '--rm', '-v', `${file}:/etc/svc/host.json:ro`, 'svc-host:suite');
    const id = started.stdout.trim();
    try {
      let health = '';
      for (let attempt = 0; attempt < 120 && health !== 'healthy'; attempt += 1) {
        health = docker('inspect', '-f', '{{.State.Health.Status}}', id).stdout.trim();
        await wait(500);
      }
      assert.equal(health, 'healthy', docker('logs', id).stderr);
    } finally {
      docker('stop', id);
    }
  });
} else {
  test('no container runtime answers, so the image is not built: the bundle is built by the command of the Dockerfile', () => {
    const { exec } = dockerInstructions().findLast(
      ({ keyword, exec: words }) => keyword === 'RUN' && words[0].endsWith('/tsup'),
    );
    const [program, ...args] = exec;
    const out = join(root, 'bundle');
    const built = spawnSync(program.replace('/build/', `${CHECKOUT}/`), [...args, '--out-dir', out], {
      encoding: 'utf8',
      cwd: join(CHECKOUT, 'examples/reference-host'),
    });
    assert.equal(built.status, 0, built.stderr);
    assert.match(readFileSync(join(out, 'main.js'), 'utf8'), /command/);
  });
}
