// Runs in every runtime against the package as it is built, so it uses nothing but the language and the Web's own
// types.
import { signDelivery, Webhook, WebhookVerificationError } from '@svc/webhook-verify';
import { receiver } from '@svc/webhook-verify/fetch';
import { StandardWebhook, signStandard, standardVerifier } from '@svc/webhook-verify/standard-webhooks';
import { invalidDeliveries, testDelivery } from '@svc/webhook-verify/testing';
import deliveries from '../vectors/deliveries.json' with { type: 'json' };
import standardDeliveries from '../vectors/standard-deliveries.json' with { type: 'json' };
import messages from '../vectors/standard-webhooks.json' with { type: 'json' };

/** @returns {Promise<import('@svc/tools/portable').SuiteReport>} */
export default async function suite() {
  const failures = [];
  let total = 0;
  const check = (why, found, expected) => {
    total += 1;
    if (found !== expected) failures.push(`${why}: ${found}, expected ${expected}`);
  };

  for (const vector of deliveries.cases) {
    const webhook = new Webhook(vector.secrets, { ...vector.options, now: () => vector.now * 1000 });
    for (const [form, headers] of headerForms(vector.headers)) {
      const found = await outcome(() => webhook.verify(bytesOf(vector.body), headers));
      check(`${vector.why}, headers as ${form}`, found, vector.outcome);
    }
    for (const [form, body] of bodyForms(bytesOf(vector.body))) {
      const found = await outcome(() => webhook.verify(body, vector.headers));
      check(`${vector.why}, body as ${form}`, found, vector.outcome);
    }
  }

  for (const vector of messages.cases) {
    const webhook = new StandardWebhook(vector.secrets, { ...vector.options, now: () => vector.now * 1000 });
    const pairs = Object.entries(vector.headers).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
    for (const [form, headers] of headerForms(pairs)) {
      const found = await outcome(() => webhook.verify(bytesOf(vector.body), headers));
      check(`standard: ${vector.why}, headers as ${form}`, found, vector.outcome);
    }
  }

  for (const vector of standardDeliveries.cases) {
    const verifier = standardVerifier(vector.secrets, { ...vector.options, now: () => vector.now * 1000 });
    for (const [form, headers] of headerForms(vector.headers)) {
      const result = verifier.safeVerify(bytesOf(vector.body), headers);
      const found = result.ok ? ('challenge' in result ? 'challenge' : 'accepted') : result.error.code;
      check(`standard delivery: ${vector.why}, headers as ${form}`, found, vector.outcome);
    }
  }

  const [signed] = deliveries.cases;
  const made = signDelivery({
    body: bytesOf(signed.body),
    secret: signed.secrets[0],
    webhookId: 'whk_1',
    eventType: 'run.completed',
    timestamp: signed.now,
    families: ['SVC'],
  });
  check('what is signed', JSON.stringify(Object.entries(made)), JSON.stringify(signed.headers));

  const [standard] = messages.cases;
  const standardMade = signStandard({
    body: bytesOf(standard.body),
    secret: standard.secrets[0],
    id: 'msg_1',
    timestamp: standard.now,
  });
  check('what is signed by the standard', JSON.stringify(standardMade), JSON.stringify(standard.headers));

  const secret = signed.secrets[0];
  const types = [];
  const handle = receiver({ secret, onDelivery: ({ eventType }) => types.push(eventType) });
  const send = async (delivery) => (await handle(new Request('http://localhost/', delivery))).status;
  check('a request', await send(testDelivery({ secret, type: 'run.started' })), 200);
  for (const { why, code, ...delivery } of invalidDeliveries({ secret })) {
    const status = await send(delivery);
    check(`a request ${why}`, status, new WebhookVerificationError(code).status);
  }
  check('what the handler saw', types.join(), 'run.started');
  return { total, failures };
}

async function outcome(run) {
  try {
    await run();
    return 'accepted';
  } catch (error) {
    return error instanceof WebhookVerificationError ? error.code : String(error);
  }
}

/** Returns the headers in every form that keeps all pairs; `Headers` joins repeats, and trims. */
function headerForms(pairs) {
  const forms = [['pairs', pairs]];
  const lists = new Map();
  for (const [name, value] of pairs) lists.set(name.toLowerCase(), [...(lists.get(name.toLowerCase()) ?? []), value]);
  forms.push(['lists', Object.fromEntries(lists)]);
  if (pairs.every(([, value]) => /^[\x20-\x7e\t]*$/.test(value))) forms.push(['Headers', new Headers(pairs)]);
  if (lists.size === pairs.length) {
    forms.push(['a record', Object.fromEntries(pairs)], ['a map', new Map(pairs)]);
  }
  return forms;
}

function bodyForms(bytes) {
  const inside = new Uint8Array(bytes.length + 2);
  inside.set(bytes, 1);
  const forms = [
    ['a buffer', bytes.buffer],
    ['part of a buffer', inside.subarray(1, bytes.length + 1)],
    ['a view', new DataView(inside.buffer, 1, bytes.length)],
  ];
  const text = textOf(bytes);
  if (text !== undefined) forms.push(['text', text]);
  return forms;
}

/** Decodes UTF-8; undefined for other bytes, which no text can represent. */
function textOf(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
