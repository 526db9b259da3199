import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { KEY_NAMES, KEY_VARIABLES, type KeyName, keyOption } from '../keys.ts';
import { type ConformanceOptions, UsageError } from '../options.ts';
import type { Major } from '../rule.ts';
import type { Terminal } from './terminal.ts';

/** The parsed command line. */
export interface Arguments {
  readonly options: ConformanceOptions;
  readonly junit: string | undefined;
  readonly json: string | undefined;
  readonly failOnSkipped: boolean;
  /** Names of key options that were passed as arguments, which other users of the machine can read. */
  readonly exposed: readonly string[];
}

const TEXTS = [
  'workspace',
  'major',
  'artifact-workflow',
  'receiver-host',
  'receiver-port',
  'receiver-url',
  'junit',
  'json',
  'timeout',
  'patience',
  'concurrency',
  'attempt-timeout-ms',
  'circuit-cooldown-ms',
  'keep-alive-ms',
] as const;

const SPECIFICATION = {
  ...Object.fromEntries(TEXTS.map((name) => [name, { type: 'string' as const }])),
  ...Object.fromEntries(KEY_NAMES.map((name) => [keyOption(name), { type: 'string' as const }])),
  config: { type: 'string' as const },
  only: { type: 'string' as const, multiple: true as const },
  'no-receiver': { type: 'boolean' as const },
  'fail-on-skipped': { type: 'boolean' as const },
};

/**
 * Reads options from the arguments, then the environment, then the configuration file. The first source that has an
 * option wins.
 *
 * @throws {UsageError} when an option is unknown or has a bad value, or the configuration file cannot be read
 */
export function readArguments(args: readonly string[], { env }: Pick<Terminal, 'env'>): Arguments {
  const { values, positionals } = parsed(args);
  const config = values.config === undefined ? {} : readConfig(String(values.config));
  const text = (name: string): string | undefined => {
    const value = values[name] ?? config[name];
    return value === undefined ? undefined : String(value);
  };
  const [url = text('url'), ...others] = positionals;
  if (url === undefined || others.length > 0)
    throw new UsageError('URL: exactly one is required. Pass the origin of a host, such as http://127.0.0.1:8787.');
  const keys = Object.fromEntries(
    KEY_NAMES.flatMap((name) => {
      const key = values[keyOption(name)] ?? env[KEY_VARIABLES[name]] ?? config[keyOption(name)];
      return key === undefined || key === '' ? [] : [[name, checkedKey(name, String(key))]];
    }),
  );
  const number = (name: string, least = 1): number | undefined => wholeNumber(name, text(name), least);
  const only = values.only ?? config.only;
  return {
    options: {
      url,
      keys,
      ...defined({
        workspace: text('workspace'),
        artifactWorkflow: text('artifact-workflow'),
        majors: majorsIn(text('major')),
        only: Array.isArray(only) ? only.flatMap((one) => String(one).split(',')) : undefined,
        concurrency: number('concurrency'),
        requestTimeoutMs: number('timeout'),
        patienceMs: number('patience'),
      }),
      receiver:
        values['no-receiver'] === true || config['no-receiver'] === true
          ? false
          : defined({
              host: text('receiver-host'),
              port: number('receiver-port', 0),
              url: receiverUrl(text('receiver-url')),
            }),
      durations: defined({
        attemptTimeoutMs: number('attempt-timeout-ms'),
        circuitCooldownMs: number('circuit-cooldown-ms'),
        keepAliveMs: number('keep-alive-ms'),
      }),
    },
    junit: text('junit'),
    json: text('json'),
    failOnSkipped: values['fail-on-skipped'] === true || config['fail-on-skipped'] === true,
    exposed: KEY_NAMES.map(keyOption).filter((name) => values[name] !== undefined),
  };
}

type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

function parsed(args: readonly string[]): { readonly values: Values; readonly positionals: readonly string[] } {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: SPECIFICATION });
  } catch (error) {
    throw new UsageError(problemOf(error instanceof Error ? error.message : String(error)));
  }
}

/** Says what is wrong with an option, from a message of `parseArgs`. The value is left out: it may be a key. */
function problemOf(message: string): string {
  const option = /--?[^\s'=]+/.exec(message)?.[0] ?? 'options';
  if (message.startsWith('Unknown option')) return `${option}: is not an option. Correct its name, or remove it.`;
  if (message.includes('does not take')) return `${option}: does not take a value. Remove the value.`;
  return `${option}: needs a value. Pass ${option}=VALUE.`;
}

const CONFIG = z.strictObject(
  Object.fromEntries([
    ...[...TEXTS, ...KEY_NAMES.map(keyOption), 'url'].map((name) => [
      name,
      z.union([z.string(), z.number()]).optional(),
    ]),
    ['only', z.array(z.string()).optional()],
    ['no-receiver', z.boolean().optional()],
    ['fail-on-skipped', z.boolean().optional()],
  ]),
);

/** Reads the configuration file: a JSON object whose members are named like the options. */
function readConfig(path: string): Values {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const why = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    throw new UsageError(`--config: ${path} ${why}. Pass a JSON object such as { "url": "http://127.0.0.1:8787" }.`);
  }
  const result = CONFIG.safeParse(json);
  if (result.success) return result.data as Values;
  const [issue] = result.error.issues;
  const problem = [...(issue?.path ?? []), issue?.message].join(': ');
  throw new UsageError(`--config: ${path} is not valid (${problem}). Use the names of the options.`);
}

/** Checks that a header can carry the key. The message never contains the key. */
function checkedKey(name: KeyName, key: string): string {
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new UsageError(
      `--${keyOption(name)} (${KEY_VARIABLES[name]}): contains spaces or control characters. Remove them.`,
    );
  }
  return key;
}

function majorsIn(text: string | undefined): readonly Major[] | undefined {
  if (text === undefined) return undefined;
  if (text === '1') return [1];
  if (text === '2') return [2];
  throw new UsageError('--major: must be 1 or 2. Leave it out to check both.');
}

function wholeNumber(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[0-9]{1,9}$/.test(text) || Number(text) < least) {
    throw new UsageError(`--${name}: must be a whole number of at least ${least}. Pass digits alone.`);
  }
  return Number(text);
}

function receiverUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(
    '--receiver-url: must be an http or https URL. Pass for example https://receiver.example/hooks.',
  );
}

type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** Returns the fields without the members that are undefined. */
function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>;
}
