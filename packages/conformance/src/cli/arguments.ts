import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { FIXTURES, isFixture, type OwnWorkflows } from '../fixtures.ts';
import { KEY_NAMES, KEY_VARIABLES, type KeyName, keyOption } from '../keys.ts';
import { type ConformanceOptions, UsageError } from '../options.ts';
import type { ProfileName } from '../profile-name.ts';
import { PROFILES } from '../profiles.ts';
import type { Major } from '../rule.ts';
import type { BundleArguments } from './certify.ts';
import { readBaseline, readExpectedSkips } from './known-results.ts';
import type { Terminal } from './terminal.ts';
import type { VerdictRules } from './verdict.ts';

/** The parsed command line. */
export interface Arguments {
  readonly options: ConformanceOptions;
  readonly junit: string | undefined;
  readonly json: string | undefined;
  readonly html: string | undefined;
  readonly badge: string | undefined;
  /** The file of the signed report, and its key. */
  readonly bundle: (BundleArguments & { readonly file: string }) | undefined;
  readonly rules: VerdictRules;
  /** Whether the text report leaves out the checks that passed or were skipped. */
  readonly failuresOnly: boolean;
  /** Whether failures are also printed as annotations of GitHub Actions. */
  readonly github: boolean;
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
  'html',
  'badge',
  'bundle',
  'signing-key',
  'key-id',
  'timeout',
  'patience',
  'concurrency',
  'attempt-timeout-ms',
  'circuit-cooldown-ms',
  'keep-alive-ms',
  'expected-skips',
  'baseline',
] as const;

const FLAGS = ['profile-only', 'fail-on-skipped', 'failures-only', 'github'] as const;

const SPECIFICATION = {
  ...Object.fromEntries(TEXTS.map((name) => [name, { type: 'string' as const }])),
  ...Object.fromEntries(KEY_NAMES.map((name) => [keyOption(name), { type: 'string' as const }])),
  config: { type: 'string' as const },
  only: { type: 'string' as const, multiple: true as const },
  profile: { type: 'string' as const, multiple: true as const },
  workflow: { type: 'string' as const, multiple: true as const },
  'no-receiver': { type: 'boolean' as const },
  ...Object.fromEntries(FLAGS.map((name) => [name, { type: 'boolean' as const }])),
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
  const list = (name: 'only' | 'profile' | 'workflow'): readonly string[] | undefined => {
    const given = values[name] ?? config[name];
    return Array.isArray(given) ? given.flatMap((one) => String(one).split(',')) : undefined;
  };
  const flag = (name: (typeof FLAGS)[number]): boolean => values[name] === true || config[name] === true;
  const [expectedSkips, baseline] = [text('expected-skips'), text('baseline')];
  return {
    options: {
      url,
      keys,
      ...defined({
        workspace: text('workspace'),
        artifactWorkflow: text('artifact-workflow'),
        workflows: workflowsIn(list('workflow')),
        majors: majorsIn(text('major')),
        only: list('only'),
        profiles: profilesIn(list('profile')),
        profilesOnly: flag('profile-only') ? true : undefined,
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
    html: text('html'),
    badge: text('badge'),
    bundle: bundleIn(text),
    rules: {
      failOnSkipped: flag('fail-on-skipped'),
      expectedSkips: expectedSkips === undefined ? [] : readExpectedSkips(expectedSkips),
      knownFailures: baseline === undefined ? new Set() : readBaseline(baseline),
    },
    failuresOnly: flag('failures-only'),
    github: flag('github'),
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
    ...['only', 'profile', 'workflow'].map((name) => [name, z.array(z.string()).optional()]),
    ...['no-receiver', ...FLAGS].map((name) => [name, z.boolean().optional()]),
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

function bundleIn(text: (name: string) => string | undefined): Arguments['bundle'] {
  const [file, signingKey, keyId] = [text('bundle'), text('signing-key'), text('key-id')];
  if (file === undefined) return undefined;
  if (signingKey === undefined || keyId === undefined)
    throw new UsageError('--bundle: needs a key. Pass --signing-key FILE and --key-id ID.');
  return { file, signingKey, keyId };
}

/** Reads `NAME=ID` and `NAME=ID#NODE`. */
function workflowsIn(texts: readonly string[] | undefined): OwnWorkflows | undefined {
  if (texts === undefined) return undefined;
  return Object.fromEntries(
    texts.map((text) => {
      const [, name = '', id = '', node] = /^([^=]+)=([^#]+)(?:#(.+))?$/.exec(text) ?? [];
      if (id === '')
        throw new UsageError(`--workflow: ${text} is not NAME=ID. Pass for example conformance-noop=my-noop.`);
      if (!isFixture(name)) {
        const choice = Object.keys(FIXTURES).join(', ');
        throw new UsageError(`--workflow: there is no fixture ${name}. Choose from ${choice}.`);
      }
      return [name, { id, ...(node !== undefined && { node }) }];
    }),
  );
}

/** `none` requires nothing. */
function profilesIn(names: readonly string[] | undefined): readonly ProfileName[] | undefined {
  if (names === undefined) return undefined;
  const wanted = names.filter((name) => name !== 'none');
  const unknown = wanted.filter((name) => !isProfile(name));
  if (unknown.length === 0) return wanted.filter(isProfile);
  const choice = [...Object.keys(PROFILES), 'none'].join(', ');
  throw new UsageError(`--profile: there is no profile ${unknown.join(', ')}. Choose from ${choice}.`);
}

function isProfile(name: string): name is ProfileName {
  return Object.hasOwn(PROFILES, name);
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
