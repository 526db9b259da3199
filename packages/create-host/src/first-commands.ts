import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the commands that start a new project: the lines of the first `sh` block of its README. */
export function firstCommands(folder: string): string[] {
  const [, block = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(readFileSync(join(folder, 'README.md'), 'utf8')) ?? [];
  return block.split('\n').filter((line) => line !== '');
}
