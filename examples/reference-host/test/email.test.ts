import { generateKeyPairSync } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, KEY, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';
import { startNameServer } from './name-server.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const own = {
  ...{ id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1' },
  scopes: ['runs:create', 'runs:read', 'artifacts:read', 'webhooks:manage'],
};
const texts = new Map([
  ['_dmarc.shop.example', 'v=DMARC1; p=reject'],
  // The last 32 bytes of the encoding are the key itself.
  [
    'mail._domainkey.shop.example',
    `v=DKIM1; k=ed25519; p=${publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')}`,
  ],
]);
let names: Awaited<ReturnType<typeof startNameServer>>;
let host: AcmeHost;

beforeAll(async () => {
  names = await startNameServer(texts);
  host = await startAcme({}, { triggers: { email: { nameServers: [names.address] } }, apiKeys: [own] });
});
afterAll(async () => {
  await host.stop();
  await names.stop();
});

const RULES = {
  ...{ source: 'email', secret: 'the-secret-of-the-relay' },
  email: { senders: ['@shop.example'], recipients: ['orders@svc.example.com'] },
  mapping: {
    workflowId: 'echo',
    inputs: { about: { pointer: '/body/subject' }, file: { pointer: '/body/attachments/0/artifactId' } },
  },
};
const MAIL = [
  ...[
    'From: Ada <ada@shop.example>',
    'To: orders@svc.example.com',
    'Subject: An order',
    'Message-ID: <1@shop.example>',
  ],
  ...['Content-Type: multipart/mixed; boundary=next', '', '--next', 'Content-Type: text/plain', '', 'See the file'],
  ...[
    '--next',
    'Content-Type: text/csv',
    'Content-Disposition: attachment; filename=order.csv',
    '',
    'a,b',
    '--next--',
    '',
  ],
].join('\r\n');

async function signed(message: string): Promise<string> {
  const signer = {
    ...{ signingDomain: 'shop.example', selector: 'mail', algorithm: 'ed25519-sha256' },
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
  const { signatures, errors } = await dkimSign(message, {
    ...{ ...signer, signatureData: [signer], canonicalization: 'relaxed/relaxed' },
  });
  expect(errors).toEqual([]);
  return signatures + message;
}

async function relay(url: string, message: string, changes: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${RULES.secret}`, 'content-type': 'message/rfc822' },
      ...{ 'svc-client-address': '192.0.2.1', 'svc-helo': 'mx.shop.example' },
      ...{ 'svc-mail-from': 'ada@shop.example', 'svc-rcpt-to': 'orders@svc.example.com' },
      ...changes,
    },
    body: message,
  });
  return { status: response.status, body: await response.json() };
}

describe(
  covers(
    'triggers.email.dmarc',
    'triggers.email.relay',
    'triggers.email.lists',
    'triggers.email.dedup',
    'triggers.email.attachments',
    'triggers.email.bounds',
    'triggers.subscription.discovery',
  ),
  () => {
    test('an email of a relay starts a run with its attachment, and one that fails DMARC starts none', async () => {
      const { body: document } = await host.call('/.well-known/svc', { major: '2' });
      expect(document.triggerBridge.sources).toContain('email');
      expect(document.triggerBridge.ingestion.verification).toContain('email-dmarc');
      const { status, body } = await host.call('/trigger-subscriptions', { major: '2', body: RULES });
      expect([status, body.binding.ingestAddress]).toEqual([201, 'orders@svc.example.com']);
      const { ingestUrl } = body.binding;
      const spoofed = await relay(ingestUrl, MAIL);
      expect([spoofed.status, spoofed.body.error]).toEqual([403, 'forbidden']);
      const message = await signed(MAIL);
      const refused = [
        await relay(ingestUrl, message, { authorization: 'Bearer another-secret-of-a-relay' }),
        await relay(ingestUrl, message, { 'svc-rcpt-to': 'billing@svc.example.com' }),
        await relay(ingestUrl, `From: Eve <eve@evil.example>\r\n${message}`),
      ];
      expect(refused.map((answer) => answer.status)).toEqual([401, 403, 400]);
      expect((await host.call('/runs', { major: '2' })).body.runs).toEqual([]);
      const taken = await relay(ingestUrl, message);
      expect([taken.status, taken.body.outcome]).toEqual([202, 'delivered']);
      expect(await relay(ingestUrl, `Received: from a by b; now\r\n${message}`)).toEqual({
        status: 200,
        body: { ...taken.body, repeated: true },
      });

      const runPath = `/runs/${encodeURIComponent(taken.body.runId)}`;
      await eventually(async () => (await host.call(runPath, { major: '2' })).body.status === 'completed');
      const polled = await host.call(`${runPath}/events/poll`, { major: '2' });
      const outputs = JSON.stringify(polled.body.events);
      expect(outputs).toContain('"about":"An order"');
      const [artifactId] = /art_[0-9a-z]+/.exec(outputs) ?? [];
      const { body: artifact } = await host.call(`${runPath}/artifacts/${artifactId}`, { major: '2' });
      expect(artifact).toMatchObject({ artifactType: 'attachment', name: 'order.csv' });
      expect(Buffer.from(artifact.content.data, 'base64').toString().trim()).toBe('a,b');
    });
  },
);
