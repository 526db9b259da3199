/**
 * Makes the function that returns the time before which expired proofs may be forgotten. It is the lowest reading of
 * `now` in the last 15 to 30 s. So a clock that jumps ahead and back within that time, and clocks of two hosts that differ
 * by up to 15 s, make no host forget a proof that it would still accept.
 *
 * @param now milliseconds since the epoch
 * @param monotonic milliseconds
 */
export function forgetHorizon(now: () => number, monotonic: () => number): () => number {
  let turnedAt = monotonic();
  let earlier = now();
  let lowest = earlier;

  return () => {
    const time = now();
    lowest = Math.min(lowest, time);
    const since = monotonic() - turnedAt;
    if (since >= LAG_MS) {
      earlier = since >= 2 * LAG_MS ? time : lowest;
      lowest = time;
      turnedAt += since;
    }
    return Math.min(earlier, lowest);
  };
}

const LAG_MS = 15_000;
