import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryDedupStore } from '../src/dedup/memory.ts';
import { receive } from '../src/receive.ts';
import { testDelivery } from '../src/testing/index.ts';

const secret = 'a secret of the tests';
const EVENTS = [1, 2];
const SENT = EVENTS.map((sequence) => testDelivery({ secret, sequence, now: () => 0 }));
const [CLAIM_SECONDS, TTL_SECONDS] = [10, 100];

/** A sender repeats deliveries, handlers end in any order, and time passes. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('arrive' as const), event: fc.nat(EVENTS.length - 1) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('end' as const), at: fc.nat(4), fails: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 9, 10, 99, 100) }),
  },
);

interface Run {
  readonly event: number;
  readonly beganAt: number;
  readonly end: (error?: Error) => void;
}

/** Lets the promises that are under way go on as far as they can. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe(covers('webhooks.verify.dedup'), () => {
  test('over any history, no handler runs beside another of its event, or after one that succeeded', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 30 }), async (steps) => {
        let seconds = 0;
        const running: Run[] = [];
        const began: Run[] = [];
        const problems: string[] = [];
        /** The time at which a handler of an event succeeded while its claim was good. */
        const handledAt = new Map<number, number>();
        const succeeded = new Set<number>();
        const claims = { ttlSeconds: TTL_SECONDS, claimSeconds: CLAIM_SECONDS, now: () => seconds * 1000 };
        const handle = receive({
          secret,
          now: () => 0,
          dedup: memoryDedupStore(claims),
          // No claim is prolonged, so that claims expire while their handlers run.
          after: () => () => {},
          onDelivery: ({ event }) =>
            new Promise<void>((resolve, reject) => {
              const end = (error?: Error) => (error === undefined ? resolve() : reject(error));
              const run = { event: event.sequence, beganAt: seconds, end };
              const beside = running.filter((other) => other.event === run.event);
              if (beside.some(({ beganAt }) => seconds - beganAt < CLAIM_SECONDS)) problems.push('two at a time');
              if (seconds - (handledAt.get(run.event) ?? Number.NEGATIVE_INFINITY) < TTL_SECONDS)
                problems.push('after a success');
              running.push(run);
              began.push(run);
            }),
        });
        const answers: Promise<void>[] = [];
        for (const each of steps) {
          if (each.kind === 'wait') seconds += each.seconds;
          else if (each.kind === 'arrive') {
            const event = EVENTS[each.event] ?? 0;
            const { body, headers } = SENT[each.event] ?? { body: '', headers: {} };
            const before = began.length;
            const answer = handle(body, headers).then(({ status }) => {
              if (status === 200 && !succeeded.has(event)) problems.push('200 without a success');
              if (![200, 409, 500].includes(status)) problems.push(`the status ${status}`);
              if (status === 409 && !running.some((run) => run.event === event)) problems.push('409 without a handler');
            });
            answers.push(answer);
            await settled();
            const isOpen = (handledAt.get(event) ?? Number.NEGATIVE_INFINITY) + TTL_SECONDS <= seconds;
            const isHeld = running.some((run) => run.event === event && run !== began[before]);
            if (isOpen && !isHeld && began.length === before) problems.push('a retry that reached no handler');
          } else {
            const [run] = running.splice(each.at % Math.max(1, running.length), 1);
            if (run === undefined) continue;
            const holder = began.findLast(({ event }) => event === run.event);
            const isHeld = holder !== undefined && running.includes(holder) && seconds - holder.beganAt < CLAIM_SECONDS;
            if (!each.fails) {
              succeeded.add(run.event);
              if (!isHeld) handledAt.set(run.event, seconds);
            }
            run.end(each.fails ? new Error('not now') : undefined);
            await settled();
          }
        }
        for (const run of running) {
          succeeded.add(run.event);
          run.end();
        }
        await Promise.all(answers);
        expect(problems).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
