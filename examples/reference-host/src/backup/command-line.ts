import { parseArgs } from 'node:util';
import type { Config } from '../config.ts';
import { readConfig } from '../read-config.ts';

/** The arguments of a command about a database. */
export interface CommandLine {
  readonly config: Config;
  /** Values by the name of the option. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /** The flags that are set. */
  readonly flags: ReadonlySet<string>;
}

/** A command line that is wrong, or a configuration with problems. */
export interface Misuse {
  readonly problems: readonly string[];
}

/**
 * Reads the arguments of a command, and the configuration that `--config` names.
 *
 * @param names options that have a value and are required, beside `config`
 * @param flags options without a value
 */
export async function commandLine(
  command: string,
  args: readonly string[],
  { names = [], flags = [] }: { readonly names?: readonly string[]; readonly flags?: readonly string[] } = {},
): Promise<CommandLine | Misuse> {
  const required = ['config', ...names];
  const options = Object.fromEntries([
    ...required.map((name) => [name, { type: 'string' as const }] as const),
    ...flags.map((name) => [name, { type: 'boolean' as const }] as const),
  ]);
  let given: Readonly<Record<string, unknown>>;
  try {
    given = parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    return { problems: [`${command}: ${error instanceof Error ? error.message : 'the arguments are wrong.'}`] };
  }
  const values = Object.fromEntries(required.map((name) => [name, textIn(given, name)]));
  const missing = required.find((name) => values[name] === undefined);
  if (missing !== undefined) return { problems: [`${command}: --${missing} is missing. See svc-host --help.`] };
  const read = await readConfig(values.config ?? '');
  if (!read.ok) return read;
  return { config: read.config, values, flags: new Set(flags.filter((flag) => given[flag] === true)) };
}

function textIn(given: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = given[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
