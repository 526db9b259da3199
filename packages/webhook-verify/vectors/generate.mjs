/**
 * Writes the vectors of this folder: `node vectors/generate.mjs`. Every digest comes from the `openssl` program, so
 * none of them depends on the code that they test.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const SOURCE =
  'openssl dgst -sha256 -mac HMAC -macopt hexkey:KEY, over the timestamp, a dot and the body; see generate.mjs';
const NOW = 1_700_000_000;
const SECRET = '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef';
const OLDER = 'fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210';
const TYPE = 'run.completed';

function hmac(key, message) {
  const args = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${Buffer.from(key).toString('hex')}`, '-binary'];
  return execFileSync('openssl', args, { input: message });
}

function signature({ secret = SECRET, timestamp = String(NOW), body }) {
  return `sha256=${hmac(secret, Buffer.concat([Buffer.from(`${timestamp}.`), Buffer.from(body)])).toString('hex')}`;
}

function bodyOf(change = {}, event = {}) {
  const envelope = {
    type: TYPE,
    runId: 'run_1',
    sequence: 3,
    timestamp: '2023-11-14T22:13:20Z',
    payload: { outputs: {} },
    ...event,
  };
  return JSON.stringify({ runId: 'run_1', workspaceId: 'w', event: envelope, ...change });
}

/** The headers of a delivery as pairs; `change` replaces values, undefined leaves one out. */
function headers({ family = 'SVC', timestamp = String(NOW), change = {}, ...rest }) {
  const values = {
    'Webhook-Id': 'whk_1',
    'Event-Type': TYPE,
    Timestamp: timestamp,
    Signature: signature({ timestamp, ...rest }),
    'Signature-Algorithm': 'v1',
    ...change,
  };
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [`${family}-${name}`, value]);
}

/** Makes a case; an omitted part is valid. `outcome` is a code, or `accepted`. */
function delivery(why, outcome, { body = bodyOf(), pairs, secrets = [SECRET], now = NOW, sent = body, ...rest } = {}) {
  return {
    why,
    outcome,
    secrets,
    now,
    headers: pairs ?? headers({ body, ...rest }),
    body: Buffer.from(sent).toString('base64'),
  };
}

const body = bodyOf();
const SVC = headers({ body });
const X_SVC = headers({ family: 'X-svc', body });
const zeros = `sha256=${'0'.repeat(64)}`;
const good = signature({ body });
const signatureOf = (text) => ({ change: { Signature: text } });
const withoutEnd = (text) => text.slice(0, -1);
const changed = (pairs, name, value) => pairs.map(([n, v]) => [n, n === name ? value : v]);
const eventBody = (event) => bodyOf({}, event);

const deliveries = [
  delivery('the SVC- headers alone', 'accepted'),
  delivery('the X-svc- headers alone', 'accepted', { pairs: X_SVC }),
  delivery('both header families in agreement', 'accepted', { pairs: [...SVC, ...X_SVC] }),
  delivery('the SVC- headers without their signature, the X-svc- headers with it', 'accepted', {
    pairs: [...SVC.filter(([n]) => n !== 'SVC-Signature'), ...X_SVC],
  }),
  delivery('names in lower case', 'accepted', { pairs: SVC.map(([n, v]) => [n.toLowerCase(), v]) }),
  delivery('names in upper case', 'accepted', { pairs: SVC.map(([n, v]) => [n.toUpperCase(), v]) }),
  delivery('values with spaces around them', 'accepted', { pairs: SVC.map(([n, v]) => [n, ` ${v}\t`]) }),
  delivery('a header that is repeated with the same value', 'accepted', { pairs: [...SVC, SVC[3]] }),
  delivery('no algorithm', 'accepted', { change: { 'Signature-Algorithm': undefined } }),
  delivery('a signature in upper case', 'accepted', signatureOf(`sha256=${good.slice(7).toUpperCase()}`)),
  delivery('the older of two secrets', 'accepted', { secret: OLDER, secrets: [SECRET, OLDER] }),
  delivery('the newer of two secrets', 'accepted', { secrets: [OLDER, SECRET] }),
  delivery('a secret that is longer than a block', 'accepted', { secret: SECRET + OLDER, secrets: [SECRET + OLDER] }),
  delivery('a secret of one block', 'accepted', { secret: SECRET, secrets: [SECRET] }),
  delivery('a secret outside ASCII', 'accepted', { secret: 'clé-🔑-секрет', secrets: ['clé-🔑-секрет'] }),
  delivery('without a workspace', 'accepted', { body: bodyOf({ workspaceId: undefined }) }),
  delivery('a type of a later version', 'accepted', {
    body: eventBody({ type: 'run.teleported' }),
    change: { 'Event-Type': 'run.teleported' },
  }),
  delivery('members of a later version', 'accepted', { body: bodyOf({ later: [1] }, { later: { a: null } }) }),
  delivery('a body outside ASCII', 'accepted', { body: eventBody({ payload: { text: 'ünïcödé ☃ 𝒳' } }) }),
  delivery('a body that is formatted', 'accepted', { body: `${JSON.stringify(JSON.parse(body), undefined, 2)}\n` }),
  ...[47, 54, 55, 56, 63, 64, 119, 120, 1000].map((length) =>
    delivery(`a payload of ${length} bytes`, 'accepted', { body: eventBody({ payload: 'x'.repeat(length) }) }),
  ),
  delivery('signed 300 seconds ago', 'accepted', { timestamp: String(NOW - 300) }),
  delivery('signed 300 seconds ahead', 'accepted', { timestamp: String(NOW + 300) }),
  delivery('a timestamp with leading zeros', 'accepted', { timestamp: `000${NOW}` }),

  delivery('signed 301 seconds ago', 'timestamp_out_of_range', { timestamp: String(NOW - 301) }),
  delivery('signed 301 seconds ahead', 'timestamp_out_of_range', { timestamp: String(NOW + 301) }),
  delivery('a timestamp in milliseconds', 'timestamp_out_of_range', { timestamp: String(NOW * 1000) }),
  ...[
    `+${NOW}`,
    `-${NOW}`,
    `${NOW}.0`,
    '17e8',
    '0x6553f100',
    '١٧٠٠٠٠٠٠٠٠',
    `${NOW} 0`,
    '1'.repeat(400),
    'NaN',
    '2023-11-14T22:13:20Z',
  ].map((timestamp) => delivery(`the timestamp ${timestamp.slice(0, 24)}`, 'malformed_timestamp', { timestamp })),
  ...['SVC-Webhook-Id', 'SVC-Event-Type', 'SVC-Timestamp', 'SVC-Signature'].map((name) =>
    delivery(`without ${name}`, 'missing_header', { pairs: SVC.filter(([n]) => n !== name) }),
  ),
  delivery('no headers', 'missing_header', { pairs: [] }),
  delivery('an empty signature', 'missing_header', signatureOf('')),
  ...X_SVC.map(([name]) =>
    delivery(`an ${name} that differs from the SVC- header`, 'header_mismatch', {
      pairs: [...SVC, ...changed(X_SVC, name, 'other')],
    }),
  ),
  ...SVC.map(([name]) =>
    delivery(`another ${name} besides`, 'repeated_header', { pairs: [...SVC, [name.toLowerCase(), 'other']] }),
  ),
  delivery('two signatures joined by a comma', 'repeated_header', signatureOf(`${good}, ${zeros}`)),
  ...['v2', 'V1', 'v0', 'none', 'v1 v2', 'standard-webhooks-1'].map((algorithm) =>
    delivery(`the algorithm ${algorithm}`, 'unknown_algorithm', { change: { 'Signature-Algorithm': algorithm } }),
  ),
  delivery('a signature without its prefix', 'malformed_signature', signatureOf(good.slice(7))),
  delivery('a signature of another hash', 'malformed_signature', signatureOf(good.replace('256', '512'))),
  delivery('a prefix in upper case', 'malformed_signature', signatureOf(good.replace('sha', 'SHA'))),
  delivery('a signature one digit short', 'malformed_signature', signatureOf(withoutEnd(good))),
  delivery('a signature one digit long', 'malformed_signature', signatureOf(`${good}0`)),
  delivery('a signature with a letter that is no digit', 'malformed_signature', signatureOf(`${withoutEnd(good)}g`)),
  delivery(
    'a signature in base64',
    'malformed_signature',
    signatureOf(`sha256=${hmac(SECRET, body).toString('base64')}`),
  ),
  delivery('a signature of zeros', 'signature_mismatch', signatureOf(zeros)),
  delivery('a signature whose first digit differs', 'signature_mismatch', {
    change: { Signature: `sha256=${good[7] === '0' ? '1' : '0'}${good.slice(8)}` },
  }),
  delivery('a signature whose last digit differs', 'signature_mismatch', {
    change: { Signature: `${withoutEnd(good)}${good.endsWith('0') ? '1' : '0'}` },
  }),
  delivery('another secret', 'signature_mismatch', { secret: OLDER }),
  delivery('the hexadecimal of the secret decoded', 'signature_mismatch', { secret: Buffer.from(SECRET, 'hex') }),
  delivery('a body with a byte more', 'signature_mismatch', { sent: `${body} ` }),
  delivery('a body that was parsed and written again', 'signature_mismatch', {
    body: `${JSON.stringify(JSON.parse(body), undefined, 2)}`,
    sent: body,
  }),
  delivery('an empty body', 'signature_mismatch', { sent: '' }),
  delivery('the signature of the body alone', 'signature_mismatch', {
    change: { Signature: `sha256=${hmac(SECRET, body).toString('hex')}` },
  }),
  delivery('the signature of another moment', 'signature_mismatch', {
    change: { Signature: signature({ timestamp: String(NOW - 1), body }) },
  }),
  delivery('a timestamp whose dot has moved', 'signature_mismatch', {
    change: { Signature: signature({ timestamp: `${NOW}.${body.slice(0, 5)}`, body: body.slice(5) }) },
  }),
  ...Object.entries({
    'no JSON': '{',
    'an empty text': '',
    'an array': '[]',
    'a null': 'null',
    'no event': '{"runId":"run_1"}',
    'an event that is an array': bodyOf({ event: [] }),
    'no run': bodyOf({ runId: undefined }),
    'a run that is a number': bodyOf({ runId: 1 }),
    'an empty run': bodyOf({ runId: '' }),
    'a workspace that is null': bodyOf({ workspaceId: null }),
    'another run in the event': eventBody({ runId: 'run_2' }),
    'no type': eventBody({ type: undefined }),
    'a sequence that is a text': eventBody({ sequence: '3' }),
    'a sequence with a fraction': eventBody({ sequence: 3.5 }),
    'a sequence beyond whole numbers': eventBody({ sequence: 2 ** 53 }),
    'no timestamp': eventBody({ timestamp: undefined }),
    'no payload': eventBody({ payload: undefined }),
    'a byte order mark': `\uFEFF${body}`,
  }).map(([why, text]) => delivery(`well signed, with ${why}`, 'malformed_body', { body: text })),
  delivery('well signed, in Latin-1', 'malformed_body', { body: Buffer.from(eventBody({ payload: 'é' }), 'latin1') }),
  delivery('well signed, of another event type', 'event_type_mismatch', { body: eventBody({ type: 'run.failed' }) }),
];

const KEY = Buffer.from(SECRET, 'hex');
const ROTATED = Buffer.from(OLDER, 'hex');
const asSecret = (key) => `whsec_${key.toString('base64')}`;

function standard(
  why,
  outcome,
  {
    keys = [KEY],
    secrets = [asSecret(KEY)],
    id = 'msg_1',
    timestamp = NOW,
    text = '{"a":1}',
    list,
    sent = text,
    now = NOW,
  } = {},
) {
  const digests = keys.map((key) => `v1,${hmac(key, `${id}.${timestamp}.${text}`).toString('base64')}`);
  return {
    why,
    outcome,
    secrets,
    now,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': list?.(digests) ?? digests.join(' '),
    },
    body: Buffer.from(sent).toString('base64'),
  };
}

const messages = [
  standard('one signature', 'accepted'),
  standard('two signatures while the sender rotates', 'accepted', { keys: [ROTATED, KEY] }),
  standard('the older of two secrets', 'accepted', { keys: [ROTATED], secrets: [asSecret(KEY), asSecret(ROTATED)] }),
  standard('a signature of another version besides', 'accepted', { list: ([one]) => `v1a,${'A'.repeat(86)}== ${one}` }),
  standard('a key of 24 bytes', 'accepted', { keys: [KEY.subarray(8)], secrets: [asSecret(KEY.subarray(8))] }),
  standard('a key of 64 bytes', 'accepted', {
    keys: [Buffer.concat([KEY, ROTATED])],
    secrets: [asSecret(Buffer.concat([KEY, ROTATED]))],
  }),
  standard('300 seconds ago', 'accepted', { timestamp: NOW - 300 }),
  standard('301 seconds ago', 'timestamp_out_of_range', { timestamp: NOW - 301 }),
  standard('301 seconds ahead', 'timestamp_out_of_range', { timestamp: NOW + 301 }),
  standard('another key', 'signature_mismatch', { keys: [ROTATED] }),
  standard('another body', 'signature_mismatch', { sent: '{"a":2}' }),
  standard('the text of the secret as the key', 'signature_mismatch', { keys: [asSecret(KEY)] }),
  standard('no signature of v1', 'malformed_signature', { list: ([one]) => one.replace('v1,', 'v2,') }),
  standard('a signature in hexadecimal', 'malformed_signature', { list: () => `v1,${'0'.repeat(64)}` }),
  standard('more signatures than a rotation has', 'malformed_signature', {
    list: ([one]) => Array(21).fill(one).join(' '),
  }),
  standard('a body that is no JSON', 'malformed_body', { text: '{' }),
];

for (const [name, cases] of Object.entries({ deliveries, 'standard-webhooks': messages })) {
  const file = new URL(`${name}.json`, import.meta.url);
  writeFileSync(file, `${JSON.stringify({ source: SOURCE, cases }, undefined, 1)}\n`);
  console.log(`${cases.length} cases in ${file.pathname.split('/').at(-1)}`);
}
