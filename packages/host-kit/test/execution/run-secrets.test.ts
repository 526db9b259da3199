import { expect, test } from 'vitest';
import type { DrivenRun } from '../../src/execution/driven-run.ts';
import { RunSecrets } from '../../src/execution/run-secrets.ts';
import { sealedForSecret } from '../../src/ports/byok.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { systemRandom } from '../../src/ports/random.ts';
import type { RunStatus } from '../../src/ports/runs.ts';
import { secretBox } from '../../src/sealing/secret-box.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { sampleRun } from '../../src/testing/store-contract/samples.ts';

const PLACE = { tenant: 'acme', mode: 'live' } as const;

/** The secrets of a run that the store shows in a status, although its engine still works. */
async function secretsIn(status: RunStatus) {
  const store = memoryStore();
  const secrets = secretBox(new Uint8Array(32), systemRandom);
  const run = { ...sampleRun({ ...PLACE, runId: 'run_1', status: 'running' }), usage: { secrets: ['openai'] } };
  await store.transaction(async (transaction) => {
    for (const name of ['openai', 'other']) {
      const sealed = secrets.seal(`value-of-${name}`, sealedForSecret(PLACE, name));
      await store.byok.put({ ...PLACE, name, sealed, createdAt: 1, updatedAt: 1 }, transaction);
    }
  });
  const driven = {
    run,
    left: undefined as unknown,
    async change(work: (open: object) => Promise<void>) {
      await store.transaction((transaction) => work({ run: { ...run, status }, set: () => {}, transaction }));
      if (status === 'cancelled') this.left = new Error('The run has ended.');
    },
  };
  const facts: string[] = [];
  const opened = new RunSecrets({
    ...{ store, secrets, clock: systemClock, driven: driven as unknown as DrivenRun },
    recordAudit: async ({ action }) => void facts.push(action),
  });
  return { store, opened, facts };
}

test('values that are opened at once are stored with their run, each once', async () => {
  const { store, opened } = await secretsIn('running');
  const names = ['openai', 'other', 'openai', 'none'];
  expect(await Promise.all(names.map((name) => opened.open(name)))).toEqual([
    ...['value-of-openai', 'value-of-other', 'value-of-openai', undefined],
  ]);
  const stored = await store.openedSecrets.list('run_1');
  expect(stored.map(({ number, name }) => [number, name])).toEqual([
    [0, 'openai'],
    [1, 'other'],
  ]);
  expect(opened.redactor.redacted(['value-of-openai', 'value-of-other'])).toEqual([
    '[REDACTED:openai]',
    '[REDACTED:other]',
  ]);
});

test('a run that has ended gets no value, and none is stored with it', async () => {
  const { store, opened, facts } = await secretsIn('cancelled');
  await expect(opened.open('openai')).rejects.toThrow('The run has ended.');
  expect([await store.openedSecrets.list('run_1'), facts]).toEqual([[], []]);
});
