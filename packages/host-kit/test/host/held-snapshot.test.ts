import { expect, test } from 'vitest';
import { reportHeldSnapshot } from '../../src/host/held-snapshot.ts';
import type { LogRecord } from '../../src/ports/log.ts';

test('a transaction that stays open for ten minutes is logged once, and so is its end', async () => {
  const logged: LogRecord[] = [];
  let ageMs = 0;
  const round = reportHeldSnapshot(
    async () => ageMs,
    (entry) => void logged.push(entry),
  );
  const ages = [0, 599_999, 600_000, 660_000, 599_999, 0, 700_000];
  for (ageMs of ages) await round();
  expect(logged).toMatchObject([
    { level: 'warn', event: 'store.snapshot-held', ageMs: 600_000 },
    { level: 'info', event: 'store.snapshot-released', ageMs: 599_999 },
    { level: 'warn', event: 'store.snapshot-held', ageMs: 700_000 },
  ]);
});
