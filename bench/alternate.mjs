import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/**
 * Measures candidates in turns, so that other load on the machine affects all of them.
 *
 * @param {Record<string, () => unknown>} candidates each does the work once
 * @param {{ rounds?: number, roundMs?: number }} [options] at least five rounds
 * @returns {Record<string, { perSecond: number, spread: number }>} the median of the rounds; `spread` is their
 * interquartile
 *   range as a share of the median
 */
export function alternate(candidates, { rounds = 9, roundMs = 120 } = {}) {
  const entries = Object.entries(candidates).map(([name, work]) => ({ name, work, batch: batchOf(work), rates: [] }));
  // The first round does not count, because part of the code is not compiled yet.
  for (const entry of entries) rateOf(entry, roundMs);
  for (let round = 0; round < rounds; round += 1) {
    for (const entry of entries) {
      // The garbage of the previous candidate must not slow this one.
      collectGarbage();
      entry.rates.push(rateOf(entry, roundMs));
    }
  }
  return Object.fromEntries(entries.map(({ name, rates }) => [name, summary(rates)]));
}

/**
 * Returns the median and the relative interquartile range of values.
 *
 * @param {readonly number[]} values
 * @returns {{ perSecond: number, spread: number }}
 */
export function summary(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.round((sorted.length - 1) * share)] ?? 0;
  return { perSecond: at(0.5), spread: (at(0.75) - at(0.25)) / at(0.5) };
}

/** Returns how often to work between two reads of the clock: for about a millisecond. */
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
