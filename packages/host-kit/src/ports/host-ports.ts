import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { Random } from './random.ts';
import type { Store } from './store.ts';

/** The ports of a host. Each part of the kit picks the ports that it uses. */
export interface HostPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}
