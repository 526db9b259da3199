// Executes the programs of docs/migrate/from-svix.md, from-standard-webhooks.md, from-stripe.md and from-github.md:
// the code of each page before and after the move judges the same signed requests.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { after, describe, test } from 'node:test';
import { sign as signForGitHub } from '@octokit/webhooks-methods';
import { Webhook as StandardPeer } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixPeer } from 'svix';
import { packedWorkspace } from '../../../tools/packed-workspace.mjs';
import { readPage } from '../../../tools/page-blocks.mjs';

const PAGES = join(env.SVC_CHECKOUT, 'docs/migrate');
const { run, load, remove } = await packedWorkspace(join(import.meta.dirname, '..'));
after(remove);
const { handled } = await run(
  'handle.js',
  'export const handled = [];\nexport const handle = async (content) => void handled.push(content);\n',
);
const { signDelivery, Webhook } = await load('@svc/webhook-verify');
const { signStandard, StandardWebhook, VERIFICATION_TYPE } = await load('@svc/webhook-verify/standard-webhooks');
const { testDelivery } = await load('@svc/webhook-verify/testing');

const stripe = new Stripe('sk_test_of_the_tests');
const hex = '0123456789abcdef'.repeat(4);
const bare = Buffer.alloc(32, 7).toString('base64');
const seconds = () => Math.floor(Date.now() / 1000);

/** One request that is signed in every way that the programs verify. */
async function signed({ text, secret, at = seconds(), id = 'msg_1' }) {
  const svix = new SvixPeer(secret).sign(id, new Date(at * 1000), text);
  return {
    'content-type': 'application/json',
    'svix-id': id,
    'svix-timestamp': String(at),
    'svix-signature': svix,
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': svix,
    'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload: text, secret, timestamp: at }),
    'x-hub-signature-256': await signForGitHub(secret, text),
    ...signDelivery({
      body: text,
      secret,
      webhookId: 'whk_1',
      eventType: 'run.completed',
      timestamp: at,
      families: ['SVC', 'X-svc'],
    }),
  };
}

const bodyIsHandled = (text) => JSON.parse(text);
const eventIsHandled = (text) => JSON.parse(text).event;

/** The programs of each page, in the order in which they stand there. */
const PROGRAMS = {
  'from-svix.md': [
    { title: 'before', secret: bare, content: bodyIsHandled },
    { title: 'after', secret: bare, content: bodyIsHandled },
    { title: 'with another sender', secret: `whsec_${bare}`, content: eventIsHandled, handlesOnce: true },
  ],
  'from-standard-webhooks.md': [
    { title: 'before', secret: `whsec_${bare}`, content: bodyIsHandled },
    { title: 'after', secret: `whsec_${bare}`, content: bodyIsHandled },
    { title: 'with another sender', secret: `whsec_${bare}`, content: eventIsHandled, handlesOnce: true },
  ],
  'from-stripe.md': [
    { title: 'before', secret: hex, content: bodyIsHandled, acceptsTheFuture: true },
    { title: 'after', secret: hex, content: eventIsHandled, handlesOnce: true },
  ],
  'from-github.md': [
    { title: 'before', secret: hex, content: bodyIsHandled, acceptsThePast: true, acceptsTheFuture: true },
    { title: 'after', secret: hex, content: eventIsHandled, handlesOnce: true },
  ],
};

/** Each page with its programs as functions. All are imported before the first test, because an import is awaited. */
const loaded = [];
for (const [page, programs] of Object.entries(PROGRAMS)) {
  const { blocks } = readPage(readFileSync(join(PAGES, page), 'utf8'));
  const codes = blocks.filter(({ language }) => language === 'js').map(({ lines }) => lines.join('\n'));
  for (const [index, program] of programs.entries()) {
    // A program reads its secret when it is imported.
    Object.assign(env, { WEBHOOK_SECRET: program.secret, STRIPE_API_KEY: 'sk_test_of_the_tests' });
    const { POST } = await run(`${page}-${index}.js`, codes[index] ?? '');
    loaded.push({ page, index, count: codes.length, ...program, POST });
  }
}

test('every page is executed', () => {
  assert.deepEqual(readdirSync(PAGES).sort(), Object.keys(PROGRAMS).sort());
});

test('every program of a page is executed', () => {
  for (const { page, count } of loaded) assert.equal(count, PROGRAMS[page].length, page);
});

for (const program of loaded) {
  const { page, index, POST, title, secret, content } = program;
  const { handlesOnce = false, acceptsThePast = false, acceptsTheFuture = false } = program;

  describe(`${page}, ${title}`, () => {
    let sequence = 0;
    const nextText = () => {
      sequence += 1;
      return testDelivery({ secret, runId: `run_${page}_${index}`, sequence }).body;
    };

    /** Posts a request. Returns whether it was accepted, and what the program handled. */
    async function post(body, headers) {
      handled.length = 0;
      const response = await POST(new Request('http://localhost/', { method: 'POST', body, headers }));
      return { isAccepted: response.ok, handled: [...handled] };
    }
    const refused = { isAccepted: false, handled: [] };

    test('accepts a signed request', async () => {
      const text = nextText();
      const answer = await post(text, await signed({ text, secret }));
      assert.deepEqual(answer, { isAccepted: true, handled: [content(text)] });
    });

    test(`handles a repeated request ${handlesOnce ? 'once' : 'again'}`, async () => {
      const text = nextText();
      const headers = await signed({ text, secret });
      const first = await post(text, headers);
      const second = await post(text, headers);
      assert.deepEqual([first.isAccepted, second.isAccepted], [true, true]);
      assert.equal(second.handled.length, handlesOnce ? 0 : 1);
    });

    test('refuses a changed body', async () => {
      const text = nextText();
      assert.deepEqual(await post(`${text} `, await signed({ text, secret })), refused);
    });

    test('refuses the signature of another secret', async () => {
      const text = nextText();
      const other = Buffer.alloc(48, 9).toString('base64');
      assert.deepEqual(await post(text, await signed({ text, secret: other })), refused);
    });

    test('refuses a request without a signature', async () => {
      assert.deepEqual(await post(nextText(), { 'content-type': 'application/json' }), refused);
    });

    for (const [when, distance, accepts] of [
      ['301 seconds ago', -301, acceptsThePast],
      ['an hour ahead', 3600, acceptsTheFuture],
    ]) {
      test(`${accepts ? 'accepts' : 'refuses'} a request that was signed ${when}`, async () => {
        const text = nextText();
        const answer = await post(text, await signed({ text, secret, at: seconds() + distance }));
        assert.equal(answer.isAccepted, accepts);
      });
    }

    if (title === 'with another sender') {
      test('answers the verification of the endpoint', async () => {
        const text = JSON.stringify({ type: VERIFICATION_TYPE, challenge: 'a'.repeat(32) });
        const headers = signStandard({ body: text, secret, id: 'msg_0', timestamp: seconds() });
        const response = await POST(new Request('http://localhost/', { method: 'POST', body: text, headers }));
        assert.deepEqual([response.status, await response.json()], [200, { challenge: 'a'.repeat(32) }]);
      });
    }
  });
}

/** The rows "Differences" of the pages: the same request or secret, judged by the peer and by the package. */
const accepts = (judge) => {
  try {
    judge();
    return true;
  } catch {
    return false;
  }
};

for (const [name, Peer, prefix] of [
  ['svix', SvixPeer, 'svix'],
  ['standardwebhooks', StandardPeer, 'webhook'],
]) {
  describe(`what ${name} accepts and this package does not`, () => {
    const peer = new Peer(bare);
    const ours = new StandardWebhook(bare, { families: [prefix], unprefixedSecret: true });
    const headersOf = (text, change = {}) => {
      const values = { id: 'msg_1', timestamp: String(seconds()), ...change };
      const signature =
        change.signature ?? peer.sign('msg_1', new Date(Number.parseInt(values.timestamp, 10) * 1000), text);
      return Object.fromEntries(
        Object.entries({ ...values, signature }).map(([key, value]) => [`${prefix}-${key}`, value]),
      );
    };

    for (const [why, text, change] of [
      ['an empty body', '', {}],
      ['a timestamp with letters after it', '{}', { timestamp: `${seconds()}abc` }],
    ]) {
      test(why, () => {
        const headers = headersOf(text, change);
        assert.deepEqual(
          [accepts(() => peer.verify(text, headers)), accepts(() => ours.verify(text, headers))],
          [true, false],
        );
      });
    }

    test('21 signatures', () => {
      const one = headersOf('{}')[`${prefix}-signature`];
      const headers = headersOf('{}', { signature: Array(21).fill(one).join(' ') });
      assert.deepEqual(
        [accepts(() => peer.verify('{}', headers)), accepts(() => ours.verify('{}', headers))],
        [true, false],
      );
    });

    test('a secret of 16 bytes, and a secret as raw bytes', () => {
      const short = Buffer.alloc(16, 7).toString('base64');
      const options = { unprefixedSecret: true };
      assert.deepEqual(
        [accepts(() => new Peer(short)), accepts(() => new StandardWebhook(short, options))],
        [true, false],
      );
      assert.equal(
        accepts(() => new Peer(Buffer.alloc(32, 7), { format: 'raw' })),
        true,
      );
    });

    test('both accept a signed message', () => {
      const headers = headersOf('{}');
      assert.deepEqual(
        [accepts(() => peer.verify('{}', headers)), accepts(() => ours.verify('{}', headers))],
        [true, true],
      );
    });
  });
}

test('a request with both families is taken by svix, and refused where both are asked for', () => {
  const signature = new SvixPeer(bare).sign('msg_1', new Date(seconds() * 1000), '{}');
  const values = { id: 'msg_1', timestamp: String(seconds()), signature };
  const named = (family) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [`${family}-${key}`, value]));
  const headers = { ...named('svix'), ...named('webhook') };
  const options = { families: ['svix', 'webhook'], unprefixedSecret: true };
  assert.equal(
    accepts(() => new SvixPeer(bare).verify('{}', headers)),
    true,
  );
  assert.throws(() => new StandardWebhook(bare, options).verify('{}', headers), { code: 'header_mismatch' });
});

test('the tolerance of stripe can be switched off, and that of this package cannot', async () => {
  const headers = await signed({ text: '{}', secret: hex, at: 1 });
  assert.equal(
    accepts(() => stripe.webhooks.constructEvent('{}', headers['stripe-signature'], hex, 0)),
    true,
  );
  assert.throws(() => new Webhook(hex, { toleranceSeconds: 0 }), /cannot be switched off/);
});
