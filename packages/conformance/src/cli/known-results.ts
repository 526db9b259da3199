import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { UsageError } from '../options.ts';
import { nameOf } from './verdict.ts';

/**
 * Reads the file of `--expected-skips`: a JSON list of `<id>` and `<id>@<major>`.
 *
 * @throws {UsageError} when it cannot be read, or has another form
 */
export function readExpectedSkips(path: string): readonly string[] {
  const found = z.array(z.string()).safeParse(readJson('expected-skips', path));
  if (found.success) return found.data;
  throw new UsageError(`--expected-skips: ${path} is not a list of ids. Pass for example ["runs.fails@1"].`);
}

/**
 * Reads the failures of the file of `--baseline`: a report that `--json` wrote.
 *
 * @throws {UsageError} when it cannot be read, or has another form
 */
export function readBaseline(path: string): ReadonlySet<string> {
  const found = REPORT.safeParse(readJson('baseline', path));
  if (!found.success)
    throw new UsageError(`--baseline: ${path} is no report of this suite. Write one with --json FILE.`);
  return new Set(found.data.results.filter(({ outcome }) => outcome === 'failed').map(nameOf));
}

const REPORT = z.object({
  reportVersion: z.literal(1),
  results: z.array(z.object({ id: z.string(), major: z.union([z.literal(1), z.literal(2)]), outcome: z.string() })),
});

function readJson(option: string, path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const why = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    throw new UsageError(`--${option}: ${path} ${why}. Pass the path of a JSON file.`);
  }
}
