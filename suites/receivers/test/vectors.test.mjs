import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { env } from 'node:process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { packedWorkspace } from '../../../tools/packed-workspace.mjs';

const run = promisify(execFile);
const CHECKOUT = env.SVC_CHECKOUT;
const { load, remove } = await packedWorkspace(join(import.meta.dirname, '..'));
after(remove);
const { Webhook } = await load('@svc/webhook-verify');
const { StandardWebhook, standardVerifier } = await load('@svc/webhook-verify/standard-webhooks');

const FILES = {
  deliveries: judgedByWebhook,
  'standard-webhooks': judgedByStandard,
  'standard-deliveries': judgedByVerifier,
};

const vectors = {};
for (const name of Object.keys(FILES)) {
  const entry = await load(`@svc/webhook-verify/vectors/${name}.json`, { with: { type: 'json' } });
  vectors[name] = entry.default.cases;
}

function judgedByWebhook({ secrets, headers }, body, options) {
  const result = new Webhook(secrets, options).safeVerify(body, headers);
  return result.ok ? 'accepted' : result.error.code;
}

function judgedByStandard({ secrets, headers }, body, options) {
  try {
    new StandardWebhook(secrets, options).verify(body, headers);
    return 'accepted';
  } catch (error) {
    return error.code;
  }
}

function judgedByVerifier({ secrets, headers }, body, options) {
  const result = standardVerifier(secrets, options).safeVerify(body, headers);
  if (!result.ok) return result.error.code;
  return 'challenge' in result ? 'challenge' : 'accepted';
}

/** The lines `<file>: <why>` of the vectors, as each language reports them. */
const expected = Object.entries(vectors).flatMap(([name, cases]) => cases.map(({ why }) => `${name}.json: ${why}`));

describe('the vectors', () => {
  test('are the files that make.py writes with openssl', async () => {
    const { stdout } = await run('python3', [join(CHECKOUT, 'packages/webhook-verify/vectors/make.py'), '--check']);
    for (const [name, cases] of Object.entries(vectors))
      assert.match(stdout, new RegExp(`${cases.length} cases in ${name}`));
  });

  test('give the same codes in JavaScript', () => {
    for (const [name, cases] of Object.entries(vectors)) {
      for (const vector of cases) {
        const options = { ...vector.options, now: () => vector.now * 1000 };
        const found = FILES[name](vector, Buffer.from(vector.body, 'base64'), options);
        assert.equal(found, vector.outcome, `${name}: ${vector.why}`);
      }
    }
  });
});

describe('the receiver in Python', () => {
  /** @type {string} */
  let report;
  before(async () => {
    const options = {
      cwd: join(CHECKOUT, 'receivers/python'),
      env: { ...env, PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1' },
    };
    const { stderr } = await run('python3', ['-m', 'unittest', '-v'], { ...options, maxBuffer: 2 ** 24 });
    report = stderr;
  });

  test('gives the same codes', () => {
    const passed = [...report.matchAll(/^(\S+\.json: .*) \.\.\. ok$/gm)].map(([, title]) => title);
    assert.deepEqual(passed.sort(), expected.toSorted());
  });

  test('passes its other tests, and skips none', () => {
    assert.match(report, /^OK$/m);
    assert.match(report, /test_handles_an_event_once .*ok/);
  });
});

describe('the receiver in Go', () => {
  /** @type {{ Action: string, Test?: string }[]} */
  let events;
  before(async () => {
    const options = { cwd: join(CHECKOUT, 'receivers/go'), env: offline(), maxBuffer: 2 ** 26 };
    const { stdout } = await run('go', ['test', '-count=1', '-json', './...'], options);
    events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  });

  test('gives the same codes', () => {
    const passed = events.flatMap(({ Action, Test }) =>
      Action === 'pass' && Test?.startsWith('TestVectors/') ? [Test] : [],
    );
    // Go changes the spaces and some letters of a title, so the titles are counted.
    assert.equal(passed.length, expected.length);
  });

  test('passes its other tests, and skips none', () => {
    assert.deepEqual(
      events.filter(({ Action, Test }) => Test && ['fail', 'skip'].includes(Action)),
      [],
    );
    assert.ok(events.some(({ Action, Test }) => Action === 'pass' && Test === 'TestHandlesAnEventOnce'));
  });

  test('is formatted and has no suspicious construct', async () => {
    const options = { cwd: join(CHECKOUT, 'receivers/go'), env: offline() };
    assert.equal((await run('gofmt', ['-l', '.'], options)).stdout, '');
    await run('go', ['vet', './...'], options);
  });
});

/** The receivers need the standard library alone, so nothing may be downloaded. */
function offline() {
  return { ...env, GOPROXY: 'off', GOTOOLCHAIN: 'local' };
}
