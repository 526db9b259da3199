import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, describe, expect, test } from 'vitest';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { type TriggerHost, triggerHost } from './trigger-host.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

const PAGE = 'https://www.example.com';
const FORM = {
  ...{ source: 'form', webhook: undefined, secret: undefined, form: { origins: [PAGE] } },
  mapping: { workflowId: 'echo', inputs: { name: { pointer: '/body/name' } } },
};
const TOKENS = 12;

async function request({ host }: TriggerHost, path: string, body?: URLSearchParams) {
  const init = { headers: { origin: PAGE }, ...(body !== undefined && { method: 'POST', body }) };
  const url = `https://svc.example.com/host/example/forms/${path}`;
  const response = await host.fetch(new Request(url, init), { address: '192.0.2.1' });
  return { status: response.status, body: await response.json() };
}

describe(covers('triggers.form.token'), () => {
  test('two hosts that get each token at once, with two submissions and twice, start one run for each token', async () => {
    const open = () => postgresStore({ url: postgres.url, schema: 'forms', connections: 6 });
    const rate = { limit: 100_000, windowSeconds: 60 };
    const triggers = { perClient: rate, perTrigger: rate };
    const one = await triggerHost({ store: await open(), triggers });
    const other = await triggerHost({ store: await open(), triggers });
    try {
      const { triggerId } = await one.register(FORM, 'operator');
      for (let n = 0; n < TOKENS; n++) {
        const { token } = (await request(one, `${triggerId}/token`)).body;
        const names = [`Ada ${n}`, `Eve ${n}`];
        const answers = await Promise.all(
          [...names, ...names].flatMap((name) =>
            [one, other].map(async (host) => {
              const fields = new URLSearchParams({ name, svc_token: token });
              return { name, ...(await request(host, triggerId, fields)) };
            }),
          ),
        );
        const statuses = answers.map(({ status }) => status).sort();
        expect(statuses).toEqual([200, 200, 200, 202, 403, 403, 403, 403]);
        const first = answers.find(({ status }) => status === 202);
        for (const { name, status, body } of answers) {
          expect(status === 403).toBe(name !== first?.name);
          if (status === 200) expect(body).toEqual({ ...first?.body, repeated: true });
        }
      }
      expect(await one.runs()).toHaveLength(TOKENS);
    } finally {
      await Promise.all([one.host.stop(0), other.host.stop(0)]);
    }
  });
});
