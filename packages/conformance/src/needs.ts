import type { Need } from './check.ts';
import { KEY_VARIABLES, type KeyName, keyOption } from './keys.ts';
import { type Durations, LONGEST_MS } from './options.ts';
import { advertised, fixturesOf, isDurable, maxAttemptsOf } from './target.ts';

/** Requires a key of the user. */
export function key(name: KeyName): Need {
  return ({ keys }) =>
    keys[name] === undefined ? `--${keyOption(name)} or ${KEY_VARIABLES[name]} is not set` : undefined;
}

/** Requires scopes of the main key. */
export function scopes(...names: readonly string[]): Need {
  return ({ keys, lacking }) => {
    if (keys.main === undefined) return `--key or ${KEY_VARIABLES.main} is not set`;
    const missing = names.filter((name) => lacking.has(name));
    return missing.length === 0 ? undefined : `the key lacks the scope ${missing.join(', ')}`;
  };
}

/** Requires a fixture workflow. */
export function fixture(name: string): Need {
  return (target) => (fixturesOf(target).includes(name) ? undefined : `fixtures[] of the host does not list ${name}`);
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

/** Requires that a record is not advertised, for a check of the refusal. */
export function unadvertised(name: string): Need {
  return (target, major) => (advertised(target, major, name) === undefined ? undefined : `the host advertises ${name}`);
}

/** Requires a host that serves both majors. */
export const overlap: Need = ({ majors }) => (majors.length === 2 ? undefined : 'the host advertises one major alone');

/** Requires a host that does not serve major 1. */
export const retired: Need = ({ majors }) => (majors.includes(1) ? 'the host advertises major 1' : undefined);

/** Requires that deliveries reach the suite. */
export const deliveries: Need = ({ receiver, undeliverable }) =>
  undeliverable ?? (receiver === undefined ? 'the suite runs without a receiver (--no-receiver)' : undefined);

/**
 * Requires a host that rejects loopback addresses: one that accepts the suite's receiver was configured to allow them.
 */
export const closedToLoopback: Need = ({ receiver, receivesOnLoopback, undeliverable }) =>
  receiver !== undefined && receivesOnLoopback && undeliverable === undefined
    ? 'the host accepts loopback addresses; run this check with --no-receiver on a host that rejects them'
    : undefined;

/** Requires durable delivery. */
export const durable: Need = (target, major) =>
  isDurable(target, major) ? undefined : 'the host advertises best-effort delivery for this major';

/** Requires best-effort delivery. */
export const bestEffort: Need = (target, major) =>
  isDurable(target, major) ? 'the host advertises durable delivery for this major' : undefined;

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
  major === 1 && target.workspace === undefined ? 'the workspace of the key is unknown; pass --workspace' : undefined;

/** Requires the tenant of the main key. */
export const tenant: Need = (target) =>
  target.tenant === undefined ? 'the tenant of the key is unknown: runs of the host name no owner' : undefined;

/** Requires a workflow that makes an artifact. */
export const artifacts: Need = ({ artifactWorkflow }) =>
  artifactWorkflow === undefined ? '--artifact-workflow is not set' : undefined;

/** Requires a setting of the host that the suite can wait for. The interface's own value is too long. */
export function shortened(name: keyof Durations, option: string): Need {
  return ({ durations }) => {
    const given = durations[name];
    if (given === undefined) return `--${option} is not set; the check waits for that setting of the host`;
    return given <= LONGEST_MS
      ? undefined
      : `--${option} is ${given} ms, more than the suite waits for (${LONGEST_MS} ms)`;
  };
}
