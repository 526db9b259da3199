import { yieldToLoop } from '../ports/clock.ts';
import type { AllRunsReader, ReachedEvent } from './all-runs-reader.ts';
import type { Followers } from './follow.ts';
import { ReaderWait, type ReaderWaitOptions } from './reader-wait.ts';

/** The parts of {@link pollAllRuns}, and the limits of its wait. */
export interface AllRunsPoll extends ReaderWaitOptions {
  readonly events: AllRunsReader;
  readonly followers: Pick<Followers, 'followAll'>;
}

/**
 * Returns the next events of all runs that a caller reaches: at once when there are any, otherwise as soon as one can
 * be read. Returns none when the time is up, the caller has disconnected or the host stops.
 *
 * @throws {AuthError} `rate_limited` when the poll has to wait and a limit of readers is reached
 * @throws {HostError} `service_unavailable` when the poll has to wait and the host is stopping
 */
export async function pollAllRuns(poll: AllRunsPoll): Promise<readonly ReachedEvent[]> {
  const wait = new ReaderWait(poll);
  const following = poll.followers.followAll(wait.notice);
  try {
    for (;;) {
      wait.look();
      const found = await poll.events.read();
      if (found !== undefined && found.length > 0) return found;
      if (wait.isTimeUp()) return [];
      if (!wait.hasPlace()) wait.takePlace();
      else if (found === undefined) await wait.news();
      // Without this a long log of which the caller reaches nothing would block all other requests of the host.
      else await yieldToLoop();
    }
  } finally {
    following.end();
    wait.close();
  }
}
