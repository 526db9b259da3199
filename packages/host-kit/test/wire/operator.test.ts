import { describe, expect, test } from 'vitest';
import type { AttemptRecord } from '../../src/ports/attempts.ts';
import { attemptView } from '../../src/wire/operator.ts';

const attempt = (fields: Partial<AttemptRecord>): AttemptRecord => ({
  deliveryId: 'dlv_1',
  webhookId: 'whk_1',
  runId: 'run_1',
  sequence: 1,
  eventType: 'run.completed',
  attempt: 1,
  at: 0,
  durationMs: 1,
  outcome: 'failed',
  status: undefined,
  reason: undefined,
  ...fields,
});

describe('an attempt in the view of its operator', () => {
  test('shows nothing that only the host may know', () => {
    const views = [
      attempt({ outcome: 'denied', reason: 'private' }),
      attempt({ outcome: 'denied', reason: 'own-address' }),
      attempt({ reason: 'dns' }),
      attempt({ reason: 'connect' }),
    ].map(attemptView);
    for (const view of views) expect(view).toEqual(views[0]);
    expect(views[0]).toMatchObject({ outcome: 'failed', reason: 'unavailable' });
  });

  test.each([
    [
      { outcome: 'delivered', status: 204 },
      { outcome: 'delivered', status: 204 },
    ],
    [{ status: 500 }, { outcome: 'failed', status: 500 }],
    [{ reason: 'timeout' }, { outcome: 'failed', reason: 'timeout' }],
    [{ reason: 'tls' }, { outcome: 'failed', reason: 'tls' }],
    [
      { outcome: 'skipped', reason: 'skipped' },
      { outcome: 'skipped', reason: 'skipped' },
    ],
  ] as const)('shows the outcome of %j', (fields, expected) => {
    expect(attemptView(attempt(fields))).toMatchObject(expected);
  });
});
