import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, describe, expect, test } from 'vitest';
import { emailReader } from '../../src/email/index.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { file, mail, parts, resolverOf, signed, zoneOf } from './signed-mail.ts';
import { type TriggerHost, triggerHost } from './trigger-host.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

const RELAY = 'the-secret-of-the-relay';
const RULES = {
  ...{ source: 'email', webhook: undefined, secret: RELAY },
  email: { senders: ['@shop.example'], recipients: ['orders@svc.example.com'] },
  mapping: { workflowId: 'echo', inputs: { subject: { pointer: '/body/subject' } } },
};
const HEADERS = {
  authorization: `Bearer ${RELAY}`,
  'content-type': 'message/rfc822',
  'svc-client-address': '198.51.100.7',
  'svc-helo': 'mx.shop.example',
  'svc-mail-from': 'ada@shop.example',
  'svc-rcpt-to': 'orders@svc.example.com',
};
const MESSAGES = 10;

async function relay({ host }: TriggerHost, triggerId: string, body: string) {
  const url = `https://svc.example.com/host/example/email/${triggerId}`;
  const request = new Request(url, { method: 'POST', headers: HEADERS, body });
  const response = await host.fetch(request, { address: '192.0.2.9' });
  return { status: response.status, body: await response.json() };
}

describe(covers('triggers.email.dedup', 'triggers.email.attachments'), () => {
  test('two hosts that get each message at once and twice start one run for each, with its attachment once', async () => {
    const open = () => postgresStore({ url: postgres.url, schema: 'email', connections: 6 });
    const rate = { limit: 100_000, windowSeconds: 60 };
    const reader = emailReader({ resolver: resolverOf(zoneOf('shop.example')) });
    const triggers = { perClient: rate, perTrigger: rate, email: { reader } };
    const one = await triggerHost({ store: await open(), triggers });
    const other = await triggerHost({ store: await open(), triggers });
    try {
      const { triggerId } = await one.register(RULES, 'operator');
      const messages = await Promise.all(
        Array.from({ length: MESSAGES }, (_, n) => {
          const { headers, body = '' } = parts(file('order.csv', `order,${n}\n`));
          return signed(mail({ headers: { ...headers, Subject: `Order ${n}` }, body }));
        }),
      );
      const answers = await Promise.all(
        [...messages, ...messages.toReversed()].flatMap((message) =>
          [one, other].map(async (host) => ({ message, ...(await relay(host, triggerId, message)) })),
        ),
      );
      for (const message of messages) {
        const group = answers.filter((answer) => answer.message === message);
        expect(group.map(({ status }) => status).sort()).toEqual([200, 200, 200, 202]);
        expect(new Set(group.map(({ body }) => body.runId)).size).toBe(1);
      }
      const runs = await one.runs();
      expect(runs.map(({ inputs }) => inputs.subject).sort()).toEqual(messages.map((_, n) => `Order ${n}`).sort());
      for (const run of runs) expect(await other.store.artifacts.list(run, 10)).toHaveLength(1);
    } finally {
      await Promise.all([one.host.stop(0), other.host.stop(0)]);
    }
  });
});
