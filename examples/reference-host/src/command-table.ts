import { backup } from './backup/backup.ts';
import { checkDb } from './backup/check-db.ts';
import { releaseDeliveries } from './backup/release-deliveries.ts';
import { restore } from './backup/restore.ts';
import { checkConfig } from './check-config.ts';
import type { Command } from './command-contract.ts';
import { explain } from './explain.ts';

/** The commands beside the host itself, by their names. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['check-config', checkConfig],
  ['explain', explain],
  ['check-db', checkDb],
  ['backup', backup],
  ['restore', restore],
  ['release-deliveries', releaseDeliveries],
]);

export const HELP = `Usage: svc-host [--config FILE]
${[...COMMANDS].map(([name, { usage }]) => `       svc-host ${name} ${usage}\n`).join('')}
Without a command: boots the host that FILE describes, or that the environment variable SVC_HOST_CONFIG names.

${[...COMMANDS].map(([name, { summary }]) => `  ${name.padEnd(18)} ${summary}\n`).join('')}
Exit code: 0 success, 1 failure, 2 wrong usage or a bad configuration.
`;
