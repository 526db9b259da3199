import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { emailReader } from '../../src/email/index.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { file, type Mail, mail, parts, resolverOf, signed, zoneOf } from './signed-mail.ts';
import { type TriggerHost, triggerHost } from './trigger-host.ts';

const HOST = 'https://svc.example.com';
const RELAY = 'the-secret-of-the-relay';
const folder = mkdtempSync(join(tmpdir(), 'svc-email-'));
const zone = zoneOf('shop.example', 'evil.example', 'mail.shop.example');
const email = { reader: emailReader({ resolver: resolverOf(zone) }), maxAttachments: 3, maxAttachmentBytes: 4000 };
let world: TriggerHost;

beforeAll(async () => {
  const rate = { limit: 100_000, windowSeconds: 60 };
  const triggers = { maxBodyBytes: 100_000, perClient: rate, perTrigger: rate, email };
  world = await triggerHost({ store: sqliteStore(join(folder, 'svc.db')), triggers });
});
afterAll(async () => {
  await world.host.stop(0);
  rmSync(folder, { recursive: true, force: true });
});

const RULES = {
  ...{ source: 'email', webhook: undefined, secret: RELAY },
  email: { senders: ['@shop.example'], recipients: ['orders@svc.example.com'] },
  mapping: {
    workflowId: 'echo',
    inputs: { subject: { pointer: '/body/subject' }, file: { pointer: '/body/attachments/0', default: null } },
  },
};
const FACTS = {
  authorization: `Bearer ${RELAY}`,
  'content-type': 'message/rfc822',
  'svc-client-address': '198.51.100.7',
  'svc-helo': 'mx.shop.example',
  'svc-mail-from': 'ada@shop.example',
  'svc-rcpt-to': 'orders@svc.example.com',
};

const registered = async (fields: object = {}) => (await world.register({ ...RULES, ...fields })).triggerId;

async function relay(triggerId: string, message: string | Uint8Array, headers: object = {}, host = world.host) {
  const body = typeof message === 'string' ? Buffer.from(message) : Buffer.from(message);
  const init = { method: 'POST', headers: { ...FACTS, ...headers }, body };
  const response = await host.fetch(new Request(`${HOST}/host/example/email/${triggerId}`, init), {
    address: '192.0.2.9',
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

let subjects = 0;
const subject = () => `Order ${subjects++}`;
/** A message with a subject of its own, signed by its domain. */
const order = (about: string, more: Mail = {}) =>
  signed(mail({ ...more, headers: { Subject: about, ...more.headers } }));
const runsOf = async (about: string) => (await world.runs()).filter(({ inputs }) => inputs.subject === about);
const reasons = async () => (await world.facts('trigger.refuse')).map(({ details }) => details.reason);

/** Requires that a message starts no run, and leaves one audit fact with its reason. */
async function expectRefused(sent: () => ReturnType<typeof relay>, status: number, reason: string) {
  const before = { runs: (await world.runs()).length, reasons: await reasons() };
  const answer = await sent();
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.any(String)]);
  expect((await world.runs()).length).toBe(before.runs);
  expect(await reasons()).toEqual([...before.reasons, reason]);
  return answer;
}

describe(covers('triggers.subscription.registration', 'triggers.email.dmarc'), () => {
  test('a signed message of a listed sender starts a run of the registrar', async () => {
    const { triggerId, binding, secret, subscription } = await world.register({ ...RULES, secret: undefined });
    expect(subscription).toMatchObject({ source: 'email', state: 'active' });
    expect(binding).toEqual({
      ingestUrl: `${HOST}/host/example/email/${triggerId}`,
      ingestAddress: 'orders@svc.example.com',
      secretFingerprint: subscription.secretFingerprint,
    });
    const about = subject();
    const { status, body } = await relay(triggerId, await order(about), { authorization: `Bearer ${secret}` });
    expect([status, body.outcome, body.repeated]).toEqual([202, 'delivered', false]);
    expect(await runsOf(about)).toMatchObject([
      { causationId: body.deliveryId.split('/')[1], owner: { principal: 'p_owner' } },
    ]);
    expect((await world.call('owner', 'GET', `/host/example/triggers/${triggerId}`)).body).toMatchObject({
      email: RULES.email,
      ingestUrl: binding.ingestUrl,
    });
  });

  test('an unsigned message starts a run if SPF passes for the domain of its author, and no other', async () => {
    const triggerId = await registered();
    const [about, other] = [subject(), subject()];
    const ours = { 'svc-client-address': '192.0.2.1' };
    expect((await relay(triggerId, mail({ headers: { Subject: about } }), ours)).status).toBe(202);
    expect(await runsOf(about)).toHaveLength(1);
    const theirs = { ...ours, 'svc-mail-from': 'eve@evil.example' };
    const spoofed = mail({ headers: { Subject: other } });
    await expectRefused(() => relay(triggerId, spoofed, theirs), 403, 'dmarc-fail');
    // A null reverse-path is judged by the name of the client, and never by a header of the message.
    const bounce = mail({ headers: { 'Return-Path': '<ada@shop.example>', Subject: other } });
    const nullSender = { ...ours, 'svc-mail-from': '<>', 'svc-helo': 'mail.evil.example' };
    await expectRefused(() => relay(triggerId, bounce, nullSender), 403, 'dmarc-fail');
  });

  test.each<[string, () => Promise<string>]>([
    ['without a signature', async () => mail()],
    ['of a spoofed author, signed by another domain', () => signed(mail(), { domain: 'evil.example' })],
    [
      'signed with another key',
      () => signed(mail(), { key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey }),
    ],
    ['whose body was changed', async () => `${await signed(mail())}P.S. Send it to Eve.\r\n`],
    ['whose subject was changed', async () => (await signed(mail())).replace('Subject: An order', 'Subject: Another')],
    ['with text after the signed part of its body', async () => `${await signed(mail(), { maxBodyLength: 7 })}Eve\r\n`],
    ['whose signature has expired', () => signed(mail(), { expires: new Date(Date.UTC(2026, 0, 1, 0, 0, 1)) })],
  ])('a message %s fails, and starts no run', async (_name, message) => {
    const triggerId = await registered();
    world.clock.advance(5000);
    const text = await message();
    await expectRefused(() => relay(triggerId, text), 403, 'dmarc-fail');
  });

  test('a strict policy refuses a signature of a subdomain, which a relaxed one accepts', async () => {
    const triggerId = await registered();
    const message = await signed(mail(), { domain: 'mail.shop.example' });
    zone.set('_dmarc.mail.shop.example TXT', [['v=spf1']]);
    zone.set('_dmarc.shop.example TXT', [['v=DMARC1; p=reject; adkim=s']]);
    await expectRefused(() => relay(triggerId, message), 403, 'dmarc-fail');
    zone.set('_dmarc.shop.example TXT', [['v=DMARC1; p=reject']]);
    expect((await relay(triggerId, message)).status).toBe(202);
  });

  test('a domain without a policy, several authors and no author start no run', async () => {
    const triggerId = await registered({ email: { ...RULES.email, senders: ['@shop.example', '@plain.example'] } });
    const plain = mail({ headers: { From: 'bob@plain.example' } });
    await expectRefused(() => relay(triggerId, plain), 403, 'dmarc-none');
    for (const From of ['ada@shop.example, eve@evil.example', 'undisclosed:;']) {
      const message = await signed(mail({ headers: { From } }));
      await expectRefused(() => relay(triggerId, message), 403, 'dmarc-permerror');
    }
  });

  test('while the name service is away, the relay is asked to send the message again', async () => {
    const triggerId = await registered();
    const about = subject();
    const message = await order(about);
    for (const name of ['_dmarc.shop.example TXT', 'mail._domainkey.shop.example TXT']) {
      const record = zone.get(name);
      zone.set(name, Object.assign(new Error('no answer'), { code: 'ESERVFAIL' }));
      const { headers } = await expectRefused(() => relay(triggerId, message), 503, 'dmarc-temperror');
      expect(headers.get('retry-after')).toBe('60');
      zone.set(name, record);
    }
    expect((await relay(triggerId, message)).status).toBe(202);
    expect(await runsOf(about)).toHaveLength(1);
  });

  test('a name service that never answers ends with the deadline', async () => {
    const silent = { resolve: () => new Promise<never>(() => {}) };
    const triggers = { email: { reader: emailReader({ resolver: silent }) } };
    const host = await triggerHost({ store: sqliteStore(join(folder, 'silent.db')), triggers });
    try {
      const { triggerId } = await host.register(RULES);
      let ended = false;
      const answer = relay(triggerId, await signed(mail()), {}, host.host).finally(() => {
        ended = true;
      });
      await vi.waitFor(
        () => {
          host.clock.advance(1000);
          expect(ended).toBe(true);
        },
        { timeout: 60_000, interval: 5 },
      );
      expect((await answer).status).toBe(503);
    } finally {
      await host.host.stop(0);
    }
  });
});

describe(covers('triggers.email.relay'), () => {
  test.each<[string, number, object]>([
    ['without a secret', 401, { authorization: '' }],
    ['with another secret', 401, { authorization: 'Bearer another-secret-of-a-relay' }],
    ['with the secret in another scheme', 401, { authorization: `Basic ${RELAY}` }],
    ['in another media type', 415, { 'content-type': 'text/plain' }],
    ['that is compressed', 415, { 'content-encoding': 'gzip' }],
    ['without an address of the client', 400, { 'svc-client-address': '' }],
    ['with two addresses of the client', 400, { 'svc-client-address': '192.0.2.1, 192.0.2.2' }],
    ['with a line end in an address', 400, { 'svc-mail-from': 'ada@shop.example%0d%0aX: y' }],
  ])('a request %s is refused with %d, starts nothing and is one audit fact', async (_name, expected, headers) => {
    const triggerId = await registered();
    const before = { runs: (await world.runs()).length, facts: (await world.facts('request.refused')).length };
    const message = await signed(mail());
    expect((await relay(triggerId, message, headers)).status).toBe(expected);
    expect((await world.runs()).length).toBe(before.runs);
    expect(await world.facts('request.refused')).toHaveLength(before.facts + 1);
  });

  test('a rotated secret is accepted until its overlap ends', async () => {
    const triggerId = await registered();
    const path = `/host/example/triggers/${triggerId}/rotate-secret`;
    expect((await world.call('owner', 'POST', path, { secret: 'a secret with white space' })).status).toBe(400);
    const { body } = await world.call('owner', 'POST', path, {});
    const post = async (secret: string) =>
      (await relay(triggerId, await signed(mail()), { authorization: `Bearer ${secret}` })).status;
    expect([await post(RELAY), await post(body.secret)]).toEqual([202, 202]);
    world.clock.advance(86_400_000);
    expect([await post(RELAY), await post(body.secret)]).toEqual([401, 202]);
  });

  test('a message to a trigger of another source is not found', async () => {
    const webhook = (await world.register()).triggerId;
    for (const triggerId of [webhook, 'trg_unknown']) {
      expect((await relay(triggerId, await signed(mail()))).status).toBe(404);
    }
    expect((await world.send(await registered(), { order: 1 })).status).toBe(404);
  });

  test('a host without a reader registers no email', async () => {
    const plain = await triggerHost({ store: sqliteStore(join(folder, 'plain.db')) });
    try {
      const { status, body } = await plain.call('owner', 'POST', '/trigger-subscriptions', RULES);
      expect([status, JSON.stringify(body.details)]).toEqual([400, expect.stringContaining('triggerBridge.sources')]);
      const { body: document } = await plain.call('owner', 'GET', '/.well-known/svc');
      expect(document.triggerBridge.sources).not.toContain('email');
    } finally {
      await plain.host.stop(0);
    }
    const { body: document } = await world.call('owner', 'GET', '/.well-known/svc');
    expect(document.triggerBridge.sources).toContain('email');
    expect(document.triggerBridge.ingestion.verification).toContain('email-dmarc');
  });
});

describe(covers('triggers.email.lists'), () => {
  test('an authentic message of another sender, or for another recipient, starts no run', async () => {
    const triggerId = await registered();
    const eve = await signed(mail({ headers: { From: 'eve@evil.example' } }), { domain: 'evil.example' });
    await expectRefused(() => relay(triggerId, eve), 403, 'sender-not-listed');
    const message = await signed(mail());
    for (const to of ['billing@svc.example.com', 'orders@svc.example.com,billing@svc.example.com'])
      await expectRefused(() => relay(triggerId, message, { 'svc-rcpt-to': to }), 403, 'recipient-not-listed');
    const listed = await registered({ email: { ...RULES.email, senders: ['bob@shop.example'] } });
    await expectRefused(() => relay(listed, message), 403, 'sender-not-listed');
    expect((await relay(triggerId, message, { 'svc-rcpt-to': 'Orders@SVC.example.com' })).status).toBe(202);
  });

  test.each([
    ['no sender', { senders: [], recipients: ['a@b.example'] }],
    ['any sender', { senders: ['*'], recipients: ['a@b.example'] }],
    ['no recipient', { senders: ['@shop.example'] }],
    ['a name beside an address', { senders: ['Ada <ada@shop.example>'], recipients: ['a@b.example'] }],
  ])('a registration with %s is rejected', async (_name, rules) => {
    const { status, body } = await world.call('owner', 'POST', '/trigger-subscriptions', { ...RULES, email: rules });
    expect([status, JSON.stringify(body.details)]).toEqual([400, expect.stringContaining('email.')]);
  });

  test('an edit replaces the lists', async () => {
    const triggerId = await registered();
    const path = `/host/example/triggers/${triggerId}`;
    const rules = { senders: ['eve@evil.example'], recipients: ['orders@svc.example.com'] };
    expect((await world.call('owner', 'PATCH', path, { email: rules })).body.email).toEqual(rules);
    const message = await signed(mail());
    await expectRefused(() => relay(triggerId, message), 403, 'sender-not-listed');
    expect((await world.call('owner', 'PATCH', path, { form: { origins: [] } })).status).toBe(400);
  });
});

describe(covers('triggers.email.dedup'), () => {
  test('the same message on another way is one run, and another message with the same body another one', async () => {
    const triggerId = await registered();
    const about = subject();
    const message = await order(about);
    const first = await relay(triggerId, message);
    const again = await relay(triggerId, `Received: from a by b; Tue, 06 Jan 2026 10:00:01 +0000\r\n${message}`);
    expect([again.status, again.body]).toEqual([200, { ...first.body, repeated: true }]);
    expect(await runsOf(about)).toHaveLength(1);
    expect((await relay(triggerId, await order(about))).status).toBe(202);
    expect(await runsOf(about)).toHaveLength(2);
  });

  test('a replay under another Message-ID, which was not signed, is the same message', async () => {
    const triggerId = await registered();
    const about = subject();
    const headers = { Subject: about, 'Message-ID': '<first@shop.example>' };
    const message = await signed(mail({ headers }), { headerList: ['from', 'subject', 'date'] });
    const first = await relay(triggerId, message);
    const replayed = message.replace('<first@shop.example>', '<second@shop.example>');
    expect((await relay(triggerId, replayed)).body).toEqual({ ...first.body, repeated: true });
    expect(await runsOf(about)).toHaveLength(1);
  });

  test('a message without Message-ID starts a run if it is signed', async () => {
    const triggerId = await registered();
    const message = mail({ headers: { 'Message-ID': '' } });
    expect((await relay(triggerId, await signed(message))).status).toBe(202);
    await expectRefused(() => relay(triggerId, message, { 'svc-client-address': '192.0.2.1' }), 400, 'malformed');
  });
});

describe(covers('triggers.email.attachments'), () => {
  test('an attachment becomes an artifact of the run, also when the message had to wait', async () => {
    const triggerId = await registered();
    const path = `/host/example/triggers/${triggerId}`;
    await world.call('owner', 'POST', `${path}/pause`);
    const about = subject();
    const content = parts('Content-Type: text/plain\r\n\r\nSee the file', file('../../etc/orders.csv', 'a,b\n'));
    expect((await relay(triggerId, await order(about, content))).body.outcome).toBe('retrying');
    await world.call('owner', 'POST', `${path}/resume`);
    await vi.waitFor(
      async () => {
        world.clock.advance(1000);
        expect(await runsOf(about)).toHaveLength(1);
      },
      { timeout: 60_000, interval: 5 },
    );
    const [run] = await runsOf(about);
    if (run === undefined) throw new Error('There is no run.');
    const described = {
      name: 'orders.csv',
      mediaType: 'text/csv',
      size: 4,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    };
    expect(run.inputs.file).toEqual({ ...described, artifactId: expect.stringMatching(/^art_/) });
    const [artifact, ...others] = await world.store.artifacts.list(run, 10);
    expect(others).toEqual([]);
    expect(artifact).toMatchObject({ artifactType: 'attachment', name: 'orders.csv' });
    expect(artifact?.content).toMatchObject({ mediaType: 'text/csv', encoding: 'base64', data: 'YSxiCg==' });
  });

  test.each<[string, Mail]>([
    ['too many attachments', parts(...Array.from({ length: 4 }, (_, n) => file(`${n}.csv`, 'a')))],
    ['an attachment that is too large', parts(file('a.csv', 'a'.repeat(4001)))],
    [
      'messages inside it that are too many',
      parts(...Array(4).fill('Content-Type: message/rfc822\r\n\r\nFrom: a@b.c\r\n\r\nx')),
    ],
    [
      'a list of too many addresses',
      { headers: { To: Array.from({ length: 201 }, (_, n) => `a${n}@b.example`).join(',') } },
    ],
    ['parts in parts', nested(20)],
  ])('a message with %s starts no run', async (_name, content) => {
    const triggerId = await registered();
    const message = await signed(mail(content));
    await expectRefused(() => relay(triggerId, message), 400, 'beyond-limits');
  });
});

/** A bomb of MIME: each part has one part. */
function nested(depth: number): Mail {
  const levels = Array.from(
    { length: depth },
    (_, n) => `--b${n}\r\nContent-Type: multipart/mixed; boundary=b${n + 1}\r\n\r\n`,
  );
  return { headers: { 'Content-Type': 'multipart/mixed; boundary=b0' }, body: levels.join('') };
}

describe(covers('triggers.email.bounds'), () => {
  test.each(['maxAttachments', 'maxAttachmentBytes', 'maxAttachmentsBytes'])(
    '%s must be a whole number',
    async (name) => {
      const triggers = { email: { ...email, [name]: -1 } };
      await expect(triggerHost({ store: world.store, triggers })).rejects.toThrow(`triggers.email.${name} must be`);
    },
  );

  test.each<[string, (message: string) => string]>([
    ['two From', (message) => `From: Eve <eve@evil.example>\r\n${message}`],
    ['a second From after the others', (message) => message.replace('\r\n\r\n', '\r\nFrom: eve@evil.example\r\n\r\n')],
    ['a From behind a bare return', (message) => message.replace('Subject: ', 'Subject: x\rFrom: eve@evil.example\r')],
    ['a hidden field', (message) => `\u00a0From: eve@evil.example\r\n${message}`],
    ['too many fields', (message) => 'X-A: b\r\n'.repeat(300) + message],
    ['too many parts', (message) => message + '--b\r\n'.repeat(1001)],
    ['too many lines', (message) => message + '\n'.repeat(20_000)],
  ])('a message with %s is malformed, and starts no run', async (_name, change) => {
    const triggerId = await registered();
    const message = change(await signed(mail()));
    await expectRefused(() => relay(triggerId, message), 400, 'malformed');
  });

  test('a message that is too large is refused before it is read', async () => {
    const triggerId = await registered();
    expect((await relay(triggerId, mail({ body: 'a'.repeat(100_001) }))).status).toBe(413);
  });

  test('encoded words bring no line end into an input', async () => {
    const triggerId = await registered();
    const about = subject();
    const Subject = `=?utf-8?q?${about.replaceAll(' ', '_')}=0D=0ABcc:_eve@evil.example?=`;
    const { body } = await relay(triggerId, await signed(mail({ headers: { Subject } })));
    expect(body.outcome).toBe('delivered');
    expect(await runsOf(`${about} Bcc: eve@evil.example`)).toHaveLength(1);
  });
});
