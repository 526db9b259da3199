// Starts the host of examples/python-host as its page does, and holds it to the profile core with the installed command.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { env } from 'node:process';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { packedWorkspace } from '../../../tools/packed-workspace.mjs';
import { failures, conformance as runSuite } from '../installed-suite.mjs';

const KEY = 'the-key-of-the-host-in-python-for-the-suite';
const workspace = await packedWorkspace(join(import.meta.dirname, '..'));
after(workspace.remove);

let host;
let url;
before(async () => {
  host = spawn('python3', ['host.py', '--port', '0'], {
    cwd: join(env.SVC_CHECKOUT, 'examples/python-host'),
    env: { ...env, SVC_HOST_KEY: KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  [url] = await once(createInterface({ input: host.stdout }), 'line');
});
after(async () => {
  host.kill('SIGTERM');
  if (host.exitCode === null) await once(host, 'exit');
});

/** Runs the installed command, without a receiver. */
const conformance = (...args) => runSuite(workspace, { url, key: KEY }, '--no-receiver', ...args);

describe('the host in Python', () => {
  test('conforms to the profile core', async () => {
    const { code, report, problems } = await conformance('--profile', 'core', '--profile-only');
    assert.deepEqual([failures(report), report.missing, problems, code], [[], [], '', 0]);
    assert.ok(report.summary.passed >= 50, `${report.summary.passed} checks passed`);
  });

  test('keeps the rules of versions and of authorization that apply to it', async () => {
    const { code, report } = await conformance('--only', 'versions,authorization');
    assert.deepEqual([failures(report), code], [[], 0]);
  });

  test('does not conform to a profile that it does not serve', async () => {
    const { code, report } = await conformance('--profile', 'versions', '--only', 'versions');
    assert.equal(code, 3);
    assert.ok(report.missing.some(({ reason }) => reason === 'the host advertises one major alone'));
  });

  test('answers what its parser refuses in the form of the protocol', async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.end('GET /runs HTTP/9.9\r\n\r\n');
    const chunks = [];
    for await (const chunk of socket) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    assert.match(text, /^HTTP\/1\.1 [45]\d\d [\s\S]*SVC-Version: 2\.0\r\n/);
    assert.doesNotMatch(text, /<html|Traceback/i);
  });

  for (const [title, method, path, headers, body, status] of [
    ['a body without an end', 'POST', '/runs', { 'Content-Length': '-1' }, '', 411],
    ['a body beyond the limit', 'POST', '/runs', { 'Content-Length': '1048577' }, '', 413],
    ['JSON that nests too deep', 'POST', '/runs', {}, '['.repeat(100_000), 400],
    ['a lone surrogate', 'POST', '/runs', {}, '{"workflowId":"\\ud800"}', 400],
    ['a delay that is true', 'POST', '/runs', {}, '{"workflowId":"conformance-delay","inputs":{"delayMs":true}}', 400],
    ['an id that is not UTF-8', 'GET', '/runs/%ff', {}, undefined, 400],
    ['a second credential', 'GET', '/runs/x', { Authorization: [`Bearer ${KEY}`, `Bearer ${KEY}`] }, undefined, 401],
  ]) {
    test(`refuses ${title} with ${status}`, async () => {
      const all = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json', ...headers };
      const sent = request(url + path, { method, headers: all });
      sent.on('error', () => {});
      sent.end(body);
      const [answer] = await once(sent, 'response');
      assert.deepEqual([answer.statusCode, answer.headers['svc-version']], [status, '2.0']);
      answer.resume();
    });
  }
});
