// Runs the receivers of receivers/python/README.md and receivers/go/README.md as those pages start them, and sends
// signed deliveries to them.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { env } from 'node:process';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { packedWorkspace } from '../../../tools/packed-workspace.mjs';

const CHECKOUT = env.SVC_CHECKOUT;
const { folder, load, remove } = await packedWorkspace(join(import.meta.dirname, '..'));
after(remove);
const { invalidDeliveries, testDelivery } = await load('@svc/webhook-verify/testing');
const { WebhookVerificationError } = await load('@svc/webhook-verify');
const { signStandard, VERIFICATION_TYPE } = await load('@svc/webhook-verify/standard-webhooks');

const secret = 'the newer secret of the tests';
const older = 'the older secret of the tests';
const whsec = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const STOP_MS = 15_000;

const LANGUAGES = {
  Python: { cwd: 'receivers/python', command: 'python3', args: ['receiver.py'], option: '--' },
  Go: { cwd: 'receivers/go', command: join(folder, 'receiver'), args: [], option: '-' },
};

before(() => {
  // An account without a home has no place for the compiler's cache.
  const cache = env.GOCACHE ?? (env.HOME === undefined ? join(folder, 'cache') : undefined);
  const offline = { ...env, ...(cache && { GOCACHE: cache }), GOPROXY: 'off', GOTOOLCHAIN: 'local' };
  execFileSync('go', ['build', '-o', LANGUAGES.Go.command, '.'], { cwd: join(CHECKOUT, 'receivers/go'), env: offline });
});

/** A receiver that runs, with the lines that it has printed. */
class Running {
  lines = [];
  #child;
  #waiting = new Set();

  constructor(child) {
    this.#child = child;
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.lines.push(line);
      for (const wake of this.#waiting) wake();
    });
  }

  /** Waits for a line. The time limit of the test bounds the wait. */
  async line(pattern) {
    for (;;) {
      const found = this.lines.find((line) => pattern.test(line));
      if (found !== undefined) return found;
      await new Promise((resolve) => {
        const wake = () => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
      });
    }
  }

  async stop() {
    const ended = once(this.#child, 'exit', { signal: AbortSignal.timeout(STOP_MS) });
    this.#child.kill('SIGTERM');
    await ended;
  }
}

async function start({ cwd, command, args, option }, { variables, flags = [] }) {
  const given = flags.map((flag) => (flag.startsWith('-') ? option + flag.replace(/^-+/, '') : flag));
  const child = spawn(command, [...args, `${option}port`, '0', ...given], {
    cwd: join(CHECKOUT, cwd),
    env: { PATH: env.PATH, HOME: env.HOME, PYTHONDONTWRITEBYTECODE: '1', ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const running = new Running(child);
  const line = await running.line(/^listening on /);
  return { running, url: line.replace('listening on ', '') };
}

/** Posts with `node:http`, which can repeat a header. */
async function post(url, { method = 'POST', headers, body }) {
  const sent = request(url, { method, headers, agent: false });
  sent.end(body);
  const [response] = await once(sent, 'response');
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() };
}

for (const [name, language] of Object.entries(LANGUAGES)) {
  describe(`the receiver in ${name}`, { timeout: 120_000 }, () => {
    let running;
    let url;
    before(async () => {
      const variables = { WEBHOOK_SECRET: secret, WEBHOOK_SECRET_OLDER: older, WEBHOOK_ID: 'whk_1' };
      ({ running, url } = await start(language, { variables, flags: ['--body-seconds', '2'] }));
    });
    after(() => running.stop());

    let sequence = 0;
    /** Makes a delivery of an event of its own. */
    function delivery(options = {}) {
      sequence += 1;
      return testDelivery({ secret, webhookId: 'whk_1', runId: `run_${name}`, sequence, ...options });
    }
    /** Returns how often the handler got an event. A later delivery marks the end of the lines about it. */
    async function timesReceived(number) {
      assert.equal((await post(url, delivery())).status, 200);
      await running.line(new RegExp(`^received run.completed of run_${name} #${sequence}$`));
      return running.lines.filter((line) => line.endsWith(` of run_${name} #${number}`)).length;
    }

    for (const families of [['SVC'], ['X-svc'], ['SVC', 'X-svc']]) {
      test(`accepts a delivery with the headers ${families.join(' and ')}`, async () => {
        assert.equal((await post(url, delivery({ families }))).status, 200);
        assert.equal(await timesReceived(sequence), 1);
      });
    }

    test('accepts a delivery that the older secret signed', async () => {
      assert.equal((await post(url, delivery({ secret: older }))).status, 200);
      assert.equal(await timesReceived(sequence), 1);
    });

    test('accepts bytes outside ASCII', async () => {
      assert.equal((await post(url, delivery({ payload: { text: 'ünïcödé ☃ 𝒳' } }))).status, 200);
    });

    test('handles an event once, and answers its repetition with 200', async () => {
      const first = delivery();
      const again = testDelivery({ secret, webhookId: 'whk_1', runId: `run_${name}`, sequence });
      assert.deepEqual([(await post(url, first)).status, (await post(url, again)).status], [200, 200]);
      assert.equal(await timesReceived(sequence), 1);
    });

    for (const { why, code, ...invalid } of invalidDeliveries({ secret, webhookId: 'whk_1', runId: 'run_invalid' })) {
      test(`refuses a delivery ${why}: ${code}`, async () => {
        const before = running.lines.length;
        const answer = await post(url, invalid);
        assert.deepEqual([answer.status, answer.text], [new WebhookVerificationError(code).status, '']);
        await running.line(new RegExp(`^refused: ${code}\\b`));
        assert.deepEqual(
          running.lines.slice(before).filter((line) => line.startsWith('received')),
          [],
        );
      });
    }

    test('refuses a repeated header', async () => {
      const { body, headers } = delivery();
      const repeated = { ...headers, 'SVC-Signature': [headers['SVC-Signature'], `sha256=${'0'.repeat(64)}`] };
      assert.equal((await post(url, { body, headers: repeated })).status, 400);
      await running.line(/^refused: repeated_header\b/);
    });

    test('refuses a delivery of another subscription', async () => {
      assert.equal((await post(url, delivery({ webhookId: 'whk_2' }))).status, 401);
      await running.line(/^refused: webhook_id_mismatch\b/);
    });

    test('answers another method with 405', async () => {
      const answer = await post(url, { method: 'GET' });
      assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST']);
    });

    test('accepts the longest body, and answers a longer one with 413', async () => {
      const longest = (length) => {
        const empty = delivery({ payload: '' }).body.length;
        sequence -= 1;
        return delivery({ payload: 'x'.repeat(length - empty) });
      };
      const fits = longest(1_048_576);
      assert.equal(Buffer.byteLength(fits.body), 1_048_576);
      assert.equal((await post(url, fits)).status, 200);
      // Only the announced length is sent, so the answer cannot wait for the body.
      const headers = { ...longest(1_048_577).headers, 'content-length': '1048577' };
      const sent = request(url, { method: 'POST', headers, agent: false });
      sent.on('error', () => {}).flushHeaders();
      const [response] = await once(sent, 'response');
      assert.equal(response.statusCode, 413);
      sent.destroy();
    });

    test('answers a body that does not arrive with 408, and closes the connection', async () => {
      const { headers } = delivery();
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname);
      const head = Object.entries({ host: 'x', ...headers, 'content-length': '100' });
      socket.write(`POST / HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n{`);
      let answer = '';
      for await (const chunk of socket) answer += chunk;
      assert.match(answer, /^HTTP\/1\.1 408 /);
    });

    test('still accepts deliveries afterwards', async () => {
      assert.equal((await post(url, delivery())).status, 200);
      assert.equal(await timesReceived(sequence), 1);
    });
  });

  describe(`the receiver in ${name} of a subscription signed by Standard Webhooks`, { timeout: 120_000 }, () => {
    let running;
    let url;
    before(async () => {
      ({ running, url } = await start(language, { variables: { WEBHOOK_SECRET: whsec }, flags: ['--standard'] }));
    });
    after(() => running.stop());

    const own = { 'SVC-Webhook-Id': 'whk_1', 'SVC-Event-Type': 'run.completed', 'content-type': 'application/json' };
    const { body } = testDelivery({ secret, runId: 'run_standard' });
    const signed = (text, secrets = whsec) =>
      signStandard({ body: text, secret: secrets, id: 'msg_1', timestamp: Math.floor(Date.now() / 1000) });

    test('accepts a delivery once', async () => {
      for (const _ of [1, 2])
        assert.equal((await post(url, { body, headers: { ...signed(body), ...own } })).status, 200);
      const { body: next } = testDelivery({ secret, runId: 'run_standard', sequence: 2 });
      assert.equal((await post(url, { body: next, headers: { ...signed(next), ...own } })).status, 200);
      await running.line(/ #2$/);
      const lines = [1, 2].map((number) => `received run.completed of run_standard #${number}`);
      assert.deepEqual(running.lines.slice(1), lines);
    });

    test('accepts a delivery that two secrets signed', async () => {
      const other = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
      const headers = { ...signed(body, [other, whsec]), ...own };
      assert.equal((await post(url, { body, headers })).status, 200);
    });

    test('refuses a delivery that another secret signed, and a v1 signature', async () => {
      const other = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
      assert.equal((await post(url, { body, headers: { ...signed(body, other), ...own } })).status, 401);
      assert.equal((await post(url, testDelivery({ secret: whsec }))).status, 400);
    });

    test('answers the verification of the endpoint', async () => {
      const text = JSON.stringify({ type: VERIFICATION_TYPE, challenge: 'a'.repeat(32) });
      const answer = await post(url, { body: text, headers: signed(text) });
      assert.deepEqual([answer.status, JSON.parse(answer.text)], [200, { challenge: 'a'.repeat(32) }]);
      assert.equal((await post(url, { body: text, headers: signed(`${text} `) })).status, 401);
    });
  });

  test(`the receiver in ${name} does not start without a secret`, () => {
    const { cwd, command, args } = language;
    const options = {
      cwd: join(CHECKOUT, cwd),
      env: { PATH: env.PATH, HOME: env.HOME },
      encoding: 'utf8',
      stdio: 'pipe',
    };
    assert.throws(
      () => execFileSync(command, args, options),
      /WEBHOOK_SECRET: secrets?: must .*Set its environment variable/,
    );
  });
}
