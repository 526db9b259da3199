import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/**
 * Lets candidates take turns, so that whatever else the machine does falls on all of them.
 *
 * @param {Record<string, () => unknown>} candidates each does the work once
 * @param {{ rounds?: number, roundMs?: number }} [options] at least five rounds
 * @returns {Record<string, { perSecond: number, spread: number }>} the median of the rounds; `spread`: how far apart the middle half
 *   of the rounds lies, as a share of the median
 */
export function alternate(candidates, { rounds = 9, roundMs = 120 } = {}) {
  const entries = Object.entries(candidates).map(([name, work]) => ({ name, work, batch: batchOf(work), rates: [] }));
  // A round that does not count: until then some of it is not compiled.
  for (const entry of entries) rateOf(entry, roundMs);
  for (let round = 0; round < rounds; round += 1) {
    for (const entry of entries) {
      // Nobody pays for what the one before has left behind.
      collectGarbage();
      entry.rates.push(rateOf(entry, roundMs));
    }
  }
  return Object.fromEntries(entries.map(({ name, rates }) => [name, summary(rates)]));
}

/** @param {readonly number[]} values @returns {{ perSecond: number, spread: number }} */
export function summary(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.round((sorted.length - 1) * share)] ?? 0;
  return { perSecond: at(0.5), spread: (at(0.75) - at(0.25)) / at(0.5) };
}

/** How often to work between two looks at the clock: about a millisecond's worth. */
function batchOf(work) {
  let batch = 1;
  for (;;) {
    const started = performance.now();
    for (let index = 0; index < batch; index += 1) work();
    if (performance.now() - started >= 1) return batch;
    batch *= 2;
  }
}

function rateOf({ work, batch }, roundMs) {
  const started = performance.now();
  let done = 0;
  let elapsed = 0;
  while (elapsed < roundMs) {
    for (let index = 0; index < batch; index += 1) work();
    done += batch;
    elapsed = performance.now() - started;
  }
  return (done / elapsed) * 1000;
}
