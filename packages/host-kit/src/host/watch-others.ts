import type { Executor } from '../execution/executor.ts';
import { describeError } from '../ports/log.ts';
import type { Dispatcher } from '../webhooks/dispatcher.ts';
import type { Services } from './services.ts';

export interface OthersWatchOptions extends Pick<Services, 'clock' | 'log'> {
  readonly executor: Pick<Executor, 'resume' | 'pollRequests'>;
  readonly dispatcher: Pick<Dispatcher, 'wake'>;
}

/**
 * Polls a shared store for runs and deliveries that other hosts have left. A host that died cannot announce them.
 *
 * @returns a function that stops the polling
 */
export function watchOthers({ clock, log, executor, dispatcher }: OthersWatchOptions): () => void {
  const failed = (event: string) => (error: unknown) => log({ level: 'error', event, ...describeError(error) });
  const cancels = [
    again(DELIVERIES_MS, dispatcher.wake),
    again(RUNS_MS, () => void executor.resume().catch(failed('run.take-up-failed'))),
    again(REQUESTS_MS, () => void executor.pollRequests().catch(failed('run.look-failed'))),
  ];
  return () => {
    for (const cancel of cancels) cancel();
  };

  function again(everyMs: number, look: () => void): () => void {
    let cancel = (): void => {};
    const arm = (): void => {
      cancel = clock.after(everyMs, () => {
        look();
        arm();
      });
    };
    arm();
    return () => cancel();
  }
}

const DELIVERIES_MS = 1000;
const RUNS_MS = 5000;
const REQUESTS_MS = 1000;
