import type { Need, Unmet } from './check.ts';
import type { FixtureName } from './fixtures.ts';
import { KEY_VARIABLES, type KeyName, keyOption } from './keys.ts';
import { type Durations, LONGEST_MS } from './options.ts';
import type { Major } from './rule.ts';
import type { SkipCause } from './skip-cause.ts';
import { advertised, hasFixture, isDurable, maxAttemptsOf, mountPath, type Target } from './target.ts';

/** Requires a key of the user. */
export function key(name: KeyName): Need {
  const missing = unmet(
    name === 'main' ? 'set-up' : 'extra',
    `--${keyOption(name)} or ${KEY_VARIABLES[name]} is not set`,
  );
  return ({ keys }) => (keys[name] === undefined ? missing : undefined);
}

/** Requires scopes of the main key. */
export function scopes(...names: readonly string[]): Need {
  return ({ keys, lacking }) => {
    if (keys.main === undefined) return unmet('set-up', `--key or ${KEY_VARIABLES.main} is not set`);
    const missing = names.filter((name) => lacking.has(name));
    return missing.length === 0 ? undefined : unmet('set-up', `the key lacks the scope ${missing.join(', ')}`);
  };
}

/** Requires a fixture workflow. */
export function fixture(name: FixtureName): Need {
  const missing = unmet(
    'set-up',
    `fixtures[] of the host does not list ${name}, and --workflow does not name a workflow in its place`,
  );
  return (target) => (hasFixture(target, name) ? undefined : missing);
}

/** Requires a record in the discovery document of the major, or a member of that record. */
export function capability(name: string, member?: string): Need {
  return (target, major) => {
    const record = advertised(target, major, name);
    if (record === undefined) return `the host does not advertise ${name}`;
    return member === undefined || record[member] !== undefined
      ? undefined
      : `the host does not advertise ${name}.${member}`;
  };
}

/** Requires a mount: `extensions` of discovery has `<org>.<name>` with a path. */
export function mount(name: string): Need {
  return (target, major) =>
    mountPath(target, major, name) === undefined ? `extensions of the host do not name <org>.${name}` : undefined;
}

/** Requires that a record is not advertised, for a check of the refusal. */
export function unadvertised(name: string): Need {
  const other = unmet('mode', `the host advertises ${name}`);
  return (target, major) => (advertised(target, major, name) === undefined ? undefined : other);
}

/** Requires a host that serves both majors. */
export const overlap: Need = ({ majors }) =>
  majors.length === 2 ? undefined : unmet('mode', 'the host advertises one major alone');

/** Requires a host that does not serve major 1. */
export const retired: Need = ({ majors }) =>
  majors.includes(1) ? unmet('mode', 'the host advertises major 1') : undefined;

/** Requires that deliveries reach the suite. */
export const deliveries: Need = ({ receiver, undeliverable }) => {
  if (undeliverable !== undefined) return unmet('set-up', undeliverable);
  return receiver === undefined ? unmet('set-up', 'the suite runs without a receiver (--no-receiver)') : undefined;
};

/**
 * Requires a host that rejects loopback addresses: one that accepts the suite's receiver was configured to allow them.
 */
export const closedToLoopback: Need = ({ receiver, receivesOnLoopback, undeliverable }) =>
  receiver !== undefined && receivesOnLoopback && undeliverable === undefined
    ? unmet(
        'mode',
        'the host accepts loopback addresses; run this check with --no-receiver on a host that rejects them',
      )
    : undefined;

/** Requires durable delivery. */
export const durable: Need = (target, major) =>
  isDurable(target, major) ? undefined : unmet('mode', 'the host advertises best-effort delivery for this major');

/** Requires best-effort delivery. */
export const bestEffort: Need = (target, major) =>
  isDurable(target, major) ? unmet('mode', 'the host advertises durable delivery for this major') : undefined;

/** Requires a retry policy whose attempts the suite can wait for. */
export const exhaustible: Need = (target) => {
  const attempts = maxAttemptsOf(target);
  if (attempts === undefined) return 'the host does not advertise a retryPolicy';
  return attempts <= MOST_ATTEMPTS
    ? undefined
    : `retryPolicy.maxAttempts is ${attempts}, more than the suite waits for (${MOST_ATTEMPTS})`;
};

const MOST_ATTEMPTS = 6;

/** Requires the workspace of the main key, which requests of major 1 name. */
export const workspace: Need = (target, major) =>
  major === 1 && target.workspace === undefined
    ? unmet('set-up', 'the workspace of the key is unknown; pass --workspace')
    : undefined;

/** Requires the tenant of the main key. */
export const tenant: Need = (target) =>
  target.tenant === undefined
    ? unmet('mode', 'the tenant of the key is unknown: runs of the host name no owner')
    : undefined;

/** Requires a workflow that makes an artifact. */
export const artifacts: Need = ({ artifactWorkflow }) =>
  artifactWorkflow === undefined ? unmet('extra', '--artifact-workflow is not set') : undefined;

/** Requires a setting of the host that the suite can wait for. The interface's own value is too long. */
export function shortened(name: keyof Durations, option: string): Need {
  return ({ durations }) => {
    const given = durations[name];
    if (given === undefined)
      return unmet('extra', `--${option} is not set; the check waits for that setting of the host`);
    return given <= LONGEST_MS
      ? undefined
      : unmet('extra', `--${option} is ${given} ms, more than the suite waits for (${LONGEST_MS} ms)`);
  };
}

/** Returns the first unmet need, or undefined. */
export function unmetNeed(needs: readonly Need[], target: Target, major: Major): Unmet | undefined {
  for (const need of needs) {
    const found = need(target, major);
    if (found !== undefined) return typeof found === 'string' ? { cause: 'host', reason: found } : found;
  }
  return undefined;
}

function unmet(cause: SkipCause, reason: string): Unmet {
  return { cause, reason };
}
