import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isExecutable, isTerminal, isWaiting, type RunStatus } from '../../src/ports/runs.ts';
import { isTerminalEvent, type RunSignal, statusAfter } from '../../src/runs/transitions.ts';

const WAITING = ['waiting-approval', 'waiting-input', 'waiting-external'] as const;
const ENDED = ['completed', 'failed', 'cancelled'] as const;
const STATUSES: readonly RunStatus[] = ['pending', 'running', 'paused', ...WAITING, 'cancelling', ...ENDED];
const SIGNALS: readonly RunSignal[] = [
  ...(['run.started', 'run.paused', 'run.resumed', 'run.completed', 'run.failed', 'run.cancelled'] as const),
  ...(['waits-for-approval', 'waits-for-input', 'waits-for-event', 'interrupt.resolved', 'cancel-requested'] as const),
];

/** All transitions that the interface permits. */
const MOVES: readonly (readonly [from: RunStatus, signal: RunSignal, to: RunStatus])[] = [
  ['pending', 'run.started', 'running'],
  ['pending', 'run.failed', 'failed'],
  ['running', 'waits-for-approval', 'waiting-approval'],
  ['running', 'waits-for-input', 'waiting-input'],
  ['running', 'waits-for-event', 'waiting-external'],
  ['running', 'run.paused', 'paused'],
  ['running', 'run.completed', 'completed'],
  ['running', 'run.failed', 'failed'],
  ['paused', 'run.resumed', 'running'],
  ...WAITING.flatMap(
    (waiting) =>
      [
        [waiting, 'interrupt.resolved', 'running'],
        [waiting, 'run.failed', 'failed'],
      ] as const,
  ),
  ...(['pending', 'running', 'paused', ...WAITING] as const).flatMap(
    (open) =>
      [
        [open, 'cancel-requested', 'cancelling'],
        [open, 'run.cancelled', 'cancelled'],
      ] as const,
  ),
  ['cancelling', 'run.cancelled', 'cancelled'],
];

describe(covers('runs.life.transitions', 'runs.life.one-end'), () => {
  test.each(STATUSES.flatMap((status) => SIGNALS.map((signal) => [status, signal] as const)))(
    '%s, %s',
    (status, signal) => {
      const [, , to] = MOVES.find(([from, by]) => from === status && by === signal) ?? [];
      expect(statusAfter(status, signal)).toBe(to);
    },
  );

  test('ends a run once after any signals, and as cancelled after a cancel', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...SIGNALS), { maxLength: 60 }), (signals) => {
        let status: RunStatus = 'pending';
        let ends = 0;
        let isCancelled = false;
        for (const signal of signals) {
          const next = statusAfter(status, signal);
          if (next === undefined) continue;
          expect(isTerminal(status)).toBe(false);
          isCancelled ||= signal === 'cancel-requested';
          if (isTerminal(next)) ends += 1;
          if (isCancelled) expect(['cancelling', 'cancelled']).toContain(next);
          status = next;
        }
        expect(ends).toBe(isTerminal(status) ? 1 : 0);
      }),
    );
  });

  test('takes exactly the events that lead to a terminal status for the end of a run', () => {
    const ends = MOVES.filter(([, , to]) => isTerminal(to)).map(([, signal]) => signal);
    for (const signal of SIGNALS) expect(isTerminalEvent(signal), signal).toBe(ends.includes(signal));
    expect(['', 'run', 'log.appended'].some(isTerminalEvent)).toBe(false);
  });

  test('makes each status exactly one of executable, waiting, paused and terminal', () => {
    const kinds = (status: RunStatus) =>
      [isExecutable(status), isWaiting(status), status === 'paused', isTerminal(status)].filter(Boolean).length;
    expect(STATUSES.map(kinds)).toEqual(STATUSES.map(() => 1));
  });
});
