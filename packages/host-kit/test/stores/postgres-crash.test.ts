import { startPostgres } from '@svc/tools/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../src/ports/store.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { sampleRun, TENANCY } from '../../src/testing/store-contract/samples.ts';

let postgres: Awaited<ReturnType<typeof startPostgres>>;
let store: Store;
beforeAll(async () => {
  postgres = await startPostgres();
  store = await postgresStore({ url: postgres.url });
});
afterAll(async () => {
  await store.close();
  await postgres.stop();
});

test.each(['SIGQUIT', 'SIGKILL'] as const)(
  'committed writes survive a crash of PostgreSQL (%s), open ones do not, and the store reconnects',
  async (signal) => {
    const run = (name: string) => sampleRun({ runId: `run_${name}_${signal}` });
    await store.transaction((transaction) => store.runs.insert(run('committed'), transaction));
    const open = store.transaction(async (transaction) => {
      await store.runs.insert(run('open'), transaction);
      await postgres.crash(signal);
    });
    await expect(open).rejects.toThrow();
    const found = async (name: string) => (await store.runs.read(TENANCY, run(name).runId)).kind;
    expect([await found('committed'), await found('open')]).toEqual(['found', 'absent']);
    await store.transaction((transaction) => store.runs.insert(run('later'), transaction));
    expect(await found('later')).toBe('found');
  },
);
