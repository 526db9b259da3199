import { memoryStore } from '@svc/host-kit/stores/memory';
import { assemble, hostKeys } from './boot.ts';
import { memoryRecords } from './caller-records.ts';
import type { Command } from './command-contract.ts';
import type { Config } from './config.ts';
import { sampleEngine } from './engine/engine.ts';
import { readConfig } from './read-config.ts';
import { complain } from './terminal.ts';

/**
 * Reports every problem of a configuration without starting the host. It reads the files that the configuration names,
 * opens no database and creates no key.
 */
export const checkConfig: Command = {
  usage: 'FILE',
  summary: 'Reports the problems of a configuration file, and starts nothing.',
  async run([file, ...others]) {
    if (file === undefined || others.length > 0) {
      complain('check-config: must be followed by one file. Pass the path of the configuration.');
      return 2;
    }
    const read = await readConfig(file);
    const problems = read.ok ? await problemsOfParts(read.config) : read.problems;
    for (const problem of problems) complain(problem);
    if (problems.length > 0) return 2;
    process.stdout.write(`${file}: has no problem.\n`);
    return 0;
  },
};

/** Assembles the host on a store in memory, to hear what its parts say of their options. */
async function problemsOfParts(config: Config): Promise<readonly string[]> {
  try {
    const inMemory: Config = { ...config, store: 'memory:' };
    const keys = await hostKeys(inMemory);
    const records = memoryRecords(inMemory, () => {});
    const baseUrl = config.baseUrl ?? 'http://127.0.0.1';
    const parts = { store: memoryStore(), engine: sampleEngine(), keys, records };
    const host = await assemble(inMemory, baseUrl, parts, () => {});
    await host.stop(0);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : 'The host could not be assembled.'];
  }
}
