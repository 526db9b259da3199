import { AuthError, type ClaimedCaller, type RequestHead } from '@svc/auth';
import { memoryRateLimiter, type RateLimiter } from '@svc/auth/rate-limit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { refusalBudgets } from '../src/refusal-budgets.ts';

const CALLERS = 3;
const LIMIT = 2;
const refusedToken = () => new AuthError('unauthenticated', 'Refused.', undefined, { reason: 'signature' });

/** One step: a caller presents a known or a new credential, a stranger a forged one, or time passes. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('valid' as const),
      caller: fc.nat(CALLERS - 1),
      credential: fc.constantFrom('known', 'new'),
    }),
  },
  // The host knows no callers from CALLERS on.
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('forged' as const), caller: fc.nat(CALLERS + 2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('implausible' as const), caller: fc.nat(CALLERS - 1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('absent' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('clock' as const), byMs: fc.nat(90_000) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('turn' as const) }) },
);

type Step = Exclude<typeof step extends fc.Arbitrary<infer One> ? One : never, undefined>;

/** The budgets of one client on a clock, with a limiter that answers when it is told to. */
class World {
  readonly held: (() => void)[] = [];
  readonly admitted = { valid: 0, forged: 0 };
  readonly refused: string[] = [];
  holds = false;
  time = 0;
  readonly #budgets: ReturnType<typeof refusalBudgets>;
  #serial = 0;

  constructor(verifications: number) {
    const now = () => this.time;
    this.#budgets = refusalBudgets({
      limiter: this.#slowly(memoryRateLimiter({ limit: LIMIT, windowSeconds: 60, now })),
      clientOf: () => 'client',
      verifications: { perSecond: verifications, now },
    });
  }

  async take(one: Step): Promise<void> {
    if (one.kind === 'valid') return await this.valid(one.caller, one.credential === 'known');
    if (one.kind === 'forged') return await this.#stranger(one.caller, true);
    if (one.kind === 'implausible') return await this.#stranger(one.caller, false);
    if (one.kind === 'absent') await this.#budgets({ headers: {} }).counted(refusedToken(), true);
    else if (one.kind === 'clock') this.time += one.byMs;
    else this.held.shift()?.();
  }

  async valid(caller: number, isKnown: boolean): Promise<void> {
    const budgets = this.#budgets(request(`valid ${caller} ${isKnown ? 0 : this.#next()}`));
    try {
      await budgets.require(claim(caller, true));
    } catch {
      this.refused.push(`a ${isKnown ? 'known' : 'new'} credential of caller ${caller}`);
      return;
    }
    this.admitted.valid += 1;
    budgets.accepted();
  }

  async #stranger(caller: number, isPlausible: boolean): Promise<void> {
    const budgets = this.#budgets(request(`forged ${this.#next()}`));
    try {
      await budgets.require(claim(caller, isPlausible));
    } catch {
      return;
    }
    this.admitted.forged += 1;
    await budgets.counted(refusedToken(), false);
  }

  #next(): number {
    this.#serial += 1;
    return this.#serial;
  }

  #slowly(limiter: RateLimiter): RateLimiter {
    const later = async () => {
      if (this.holds) await new Promise<void>((resolve) => this.held.push(resolve));
    };
    return {
      consume: async (key) => {
        await later();
        return limiter.consume(key);
      },
      peek: async (key) => {
        await later();
        return limiter.peek(key);
      },
    };
  }
}

function request(credential: string): RequestHead {
  return { headers: { authorization: `Bearer ${credential}` } };
}

function claim(caller: number, isPlausible: boolean): ClaimedCaller {
  return { caller: () => (isPlausible ? `caller ${caller}` : undefined) };
}

describe('the budgets of refusals of one client', () => {
  test('in 10 000 random interleavings, no credential of a known caller is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
        // Above the number of steps.
        const world = new World(25);
        for (let caller = 0; caller < CALLERS; caller++) await world.valid(caller, true);
        world.holds = true;
        const pending: Promise<void>[] = [];
        for (const one of steps) {
          pending.push(world.take(one));
          await Promise.resolve();
        }
        world.holds = false;
        while (world.held.length > 0) {
          world.held.shift()?.();
          await new Promise<void>((resolve) => setImmediate(resolve));
        }
        await Promise.all(pending);
        expect(world.refused).toEqual([]);
      }),
      { numRuns: 10_000 },
    );
  });

  test('forged credentials cause at most the verifications of the first budget and of both others', async () => {
    const verifications = 3;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async (steps) => {
        const world = new World(verifications);
        for (let caller = 0; caller < CALLERS; caller++) await world.valid(caller, true);
        let seconds = 1;
        for (const one of steps) {
          if (one.kind === 'clock' && one.byMs > 0) seconds += 1;
          await world.take(one);
        }
        // A step of the clock begins at most one window of each kind.
        expect(world.admitted.forged).toBeLessThanOrEqual(seconds * (LIMIT + 2 * verifications));
        // The requests of strangers refuse no known credential.
        expect(world.refused.filter((what) => what.startsWith('a known'))).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  test('a caller with many tokens does not make the host forget the others', async () => {
    const world = new World(25);
    await world.valid(0, true);
    for (let turn = 0; turn < 120_000; turn++) await world.valid(1, false);
    for (let turn = 0; turn < 5; turn++) await world.take({ kind: 'forged', caller: CALLERS });
    await world.valid(0, false);
    expect(world.refused).toEqual([]);
  });
});
