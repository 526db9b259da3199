import type { Need } from './check.ts';
import { KEY_VARIABLES, type KeyName, keyOption } from './keys.ts';
import { type Durations, LONGEST_MS } from './options.ts';
import { advertised, fixturesOf, isDurable, maxAttemptsOf } from './target.ts';

/** A credential that the user gives. */
export function key(name: KeyName): Need {
  return ({ keys }) =>
    keys[name] === undefined ? `no key was given: --${keyOption(name)} or ${KEY_VARIABLES[name]}` : undefined;
}

/** Scopes that the main key must hold. */
export function scopes(...names: readonly string[]): Need {
  return ({ keys, lacking }) => {
    if (keys.main === undefined) return `no key was given: --key or ${KEY_VARIABLES.main}`;
    const missing = names.filter((name) => lacking.has(name));
    return missing.length === 0 ? undefined : `the key does not hold ${missing.join(', ')}`;
  };
}

/** A workflow of the host's, for suites like this one. */
export function fixture(name: string): Need {
  return (target) => (fixturesOf(target).includes(name) ? undefined : `the host's fixtures[] do not name ${name}`);
}

/** A record of the discovery document of the major in question, perhaps with something in it. */
export function capability(name: string, member?: string): Need {
  return (target, major) => {
    const record = advertised(target, major, name);
    if (record === undefined) return `the host does not advertise ${name}`;
    return member === undefined || record[member] !== undefined
      ? undefined
      : `the host does not advertise ${name}.${member}`;
  };
}

/** The reverse: what has to be refused because it is not advertised. */
export function unadvertised(name: string): Need {
  return (target, major) => (advertised(target, major, name) === undefined ? undefined : `the host advertises ${name}`);
}

/** Both majors are served side by side. */
export const overlap: Need = ({ majors }) => (majors.length === 2 ? undefined : 'the host advertises one major');

/** Major 1 is there no more. */
export const retired: Need = ({ majors }) => (majors.includes(1) ? 'the host advertises major 1' : undefined);

/** Deliveries reach the suite. */
export const deliveries: Need = ({ receiver, undeliverable }) =>
  undeliverable ?? (receiver === undefined ? 'the suite runs without a receiver' : undefined);

/** Nothing makes the host more lenient to loopback addresses than it is by itself. */
export const closedToLoopback: Need = ({ receiver, receivesOnLoopback, undeliverable }) =>
  receiver !== undefined && receivesOnLoopback && undeliverable === undefined
    ? 'the host is open to the loopback receiver: run this check alone, with --no-receiver'
    : undefined;

export const durable: Need = (target, major) =>
  isDurable(target, major) ? undefined : 'the host advertises best-effort delivery for this major';

export const bestEffort: Need = (target, major) =>
  isDurable(target, major) ? 'the host delivers durably under this major' : undefined;

/** Exhausting the retries is short enough to be waited for. */
export const exhaustible: Need = (target) => {
  const attempts = maxAttemptsOf(target);
  if (attempts === undefined) return 'the host does not advertise a retryPolicy';
  return attempts <= MOST_ATTEMPTS ? undefined : `${attempts} attempts are too many to wait for`;
};

const MOST_ATTEMPTS = 6;

/** The workspace of the main key, which major 1 wants to be told. */
export const workspace: Need = (target, major) =>
  major === 1 && target.workspace === undefined
    ? 'the host does not say which workspace the key is for: give --workspace'
    : undefined;

/** The tenant of the main key. */
export const tenant: Need = (target) =>
  target.tenant === undefined ? 'the host does not say which tenant the key is of' : undefined;

/** A workflow that makes an artifact. */
export const artifacts: Need = ({ artifactWorkflow }) =>
  artifactWorkflow === undefined ? 'no workflow that makes an artifact was given: --artifact-workflow' : undefined;

/** A duration that can be waited for: the interface's own is too long, so the user says when it was shortened. */
export function shortened(name: keyof Durations, option: string): Need {
  return ({ durations }) => {
    const given = durations[name];
    if (given === undefined) return `takes too long unless the host's setting is shortened: --${option}`;
    return given <= LONGEST_MS ? undefined : `${given} ms are too long to be waited for`;
  };
}
