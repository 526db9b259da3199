import { CHECKS } from '@svc/conformance';
import { keyOf, type OperationOf } from './exchange.ts';
import type { Recording } from './recording.ts';
import type { Breaking, Tried } from './score.ts';
import { trial } from './trial.ts';

/** The outcomes of all trials. */
export interface Trials {
  readonly tried: readonly Tried[];
  /** Runs without a mutation. */
  readonly controls: number;
  /** Checks that failed in such a run. */
  readonly alarms: readonly string[];
}

/** Trials at the same time. */
const WIDTH = 12;
/** Checks of the first trial of a mutant, and of the second. */
const AT_FIRST = 6;
const AFTERWARDS = 40;
/** One trial in so many is repeated without its mutation. */
const CONTROL_EVERY = 10;

/**
 * Tries every mutant with the checks that looked at exchanges of its kind in the recorded run. The most specific ones come
 * first; the others are run only if those find nothing.
 */
export async function tryAll(
  url: string,
  operationOf: OperationOf,
  recording: Recording,
  mutants: readonly Breaking[],
): Promise<Trials> {
  const tried = new Array<Tried>(mutants.length);
  const alarms: string[] = [];
  let controls = 0;
  const queue = mutants.entries();
  const work = async (): Promise<void> => {
    for (const [index, breaking] of queue) {
      const checks = recording.touching.get(keyOf(breaking.mutant.kind)) ?? [];
      const first = [...checks.slice(0, AT_FIRST), ...ALWAYS];
      let { found } = await trial(url, operationOf, breaking.mutant, first);
      const others = checks.slice(AT_FIRST, AT_FIRST + AFTERWARDS);
      if (found.length === 0 && others.length > 0) ({ found } = await trial(url, operationOf, breaking.mutant, others));
      tried[index] = { ...breaking, found };
      if (index % CONTROL_EVERY === 0) {
        controls += 1;
        alarms.push(...(await alarmsOf(url, operationOf, first)));
      }
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, work));
  return { tried, controls, alarms };
}

/** Runs checks without a mutation. A check that fails once, as on a busy machine, and passes the next time is no alarm. */
async function alarmsOf(url: string, operationOf: OperationOf, only: readonly string[]): Promise<readonly string[]> {
  const { found } = await trial(url, operationOf, undefined, only);
  if (found.length === 0) return [];
  const again = await trial(url, operationOf, undefined, only);
  return again.found;
}

/** Checks that look at every answer of a run. */
const ALWAYS: readonly string[] = CHECKS.filter(({ id }) => id.startsWith('answers.')).map(({ id }) => id);
