import type { Command } from '../command-contract.ts';
import { complain } from '../terminal.ts';
import { commandLine } from './command-line.ts';
import { databasePlace, inspect } from './database.ts';
import { examine, lineOf } from './examination.ts';
import { presentKeys } from './present-keys.ts';

/** Checks the database of a host, which may run meanwhile. Changes nothing, and creates no key. */
export const checkDb: Command = {
  usage: '--config FILE',
  summary: 'Checks the database: its rows, its schema, its keys and its audit log.',
  async run(args) {
    const given = await commandLine('check-db', args);
    if ('problems' in given) {
      given.problems.forEach(complain);
      return 2;
    }
    const { config } = given;
    try {
      const place = databasePlace(config);
      const inspection = await inspect(place);
      try {
        const findings = await examine({
          inspection,
          keys: await presentKeys(config),
          damage: place.store === 'sqlite' ? 'quick_check' : 'tables',
          checkpointFile: config.audit.checkpointFile,
        });
        for (const finding of findings) process.stdout.write(`${lineOf(finding)}\n`);
        return findings.every(({ ok }) => ok) ? 0 : 1;
      } finally {
        await inspection.close();
      }
    } catch (error) {
      complain(error instanceof Error ? error.message : 'The database cannot be checked.');
      return 1;
    }
  },
};
