import { existsSync } from 'node:fs';
import type { Command } from '../command-contract.ts';
import { complain } from '../terminal.ts';
import { commandLine } from './command-line.ts';
import { type DatabasePlace, databasePlace } from './database.ts';
import { type Released, release } from './held-deliveries.ts';

/** Resumes the subscriptions that `restore --hold-deliveries` has paused. A host on SQLite must not run. */
export const releaseDeliveries: Command = {
  usage: '--config FILE',
  summary: 'Resumes the subscriptions that restore --hold-deliveries has paused.',
  async run(args) {
    const given = await commandLine('release-deliveries', args);
    if ('problems' in given) {
      given.problems.forEach(complain);
      return 2;
    }
    try {
      const place = databasePlace(given.config);
      const released = await releaseIn(place);
      process.stdout.write(`${place.name}: ${released === undefined ? 'holds no deliveries.' : told(released)}\n`);
      return 0;
    } catch (error) {
      complain(error instanceof Error ? error.message : 'The deliveries cannot be released.');
      return 1;
    }
  },
};

function told({ resumed, leftPaused }: Released): string {
  const left = leftPaused === 0 ? '' : ` ${leftPaused} stay paused, because they were paused anew after the restore.`;
  return `${resumed} subscriptions are resumed.${left}`;
}

async function releaseIn(place: DatabasePlace): Promise<Released | undefined> {
  if (place.store === 'postgres') {
    const postgres = await import('@svc/host-kit/stores/postgres');
    const resumed = await postgres.releaseDeliveries({ url: place.url });
    return resumed === undefined ? undefined : { resumed, leftPaused: 0 };
  }
  if (!existsSync(place.path)) throw new Error(`${place.path}: does not exist. Correct store.`);
  return await release(place.path);
}
