import type { OwnWorkflows } from './fixtures.ts';
import type { KeyName } from './keys.ts';
import type { ProfileName } from './profile-name.ts';
import type { Result } from './report/result.ts';
import type { Major } from './rule.ts';

/** Options of `runConformance`. */
export interface ConformanceOptions {
  /** Origin of the host, such as `http://127.0.0.1:8787`: without path, query or credentials. */
  readonly url: string;
  /** API keys by their role. A check that needs an absent or empty key is skipped. Default: none. */
  readonly keys?: Readonly<Partial<Record<KeyName, string>>>;
  /**
   * Workspace of the key `main`. Default: the workspace that the host names as the owner of a run of that key. Most
   * webhook checks of major 1 are skipped when neither is known.
   */
  readonly workspace?: string;
  /** Majors to check, of those that the host advertises. Default: all that it advertises. */
  readonly majors?: readonly Major[];
  /** Ids of checks, or names of areas, to run. Default: all checks. An unknown name is a `UsageError`. */
  readonly only?: readonly string[];
  /**
   * Profiles that the run is required to look at: `missing` of the report names their checks that were skipped for want of a
   * key, a fixture or an option. Default: `['core']`, or none when `only` is given.
   */
  readonly profiles?: readonly ProfileName[];
  /** Runs the checks of `profiles` alone. Default: false; a check outside of them is run too, and can fail. */
  readonly profilesOnly?: boolean;
  /** Server of the suite that receives deliveries; `false` starts none. Default: a free port of 127.0.0.1. */
  readonly receiver?: ReceiverOptions | false;
  /**
   * Workflows of the host that stand in for fixtures, by the name of the fixture. Default: none; the host lists the fixtures in
   * `fixtures[]` of its discovery document.
   */
  readonly workflows?: OwnWorkflows;
  /** Id of a workflow that makes an artifact of its input `content`. Most artifact checks are skipped without it. */
  readonly artifactWorkflow?: string;
  /** Settings of the host that the suite must know to wait long enough. Default: none. */
  readonly durations?: Durations;
  /** Number of checks that run at the same time, at least 1. Default: 8. */
  readonly concurrency?: number;
  /** Longest wait for an effect of a request, such as a delivery, in ms. Default: 10 000. */
  readonly patienceMs?: number;
  /** Longest time for one request, in ms. Default: 10 000. */
  readonly requestTimeoutMs?: number;
  /** Interrupts the run: checks that are not finished are skipped, and their runs and subscriptions are cleaned up. */
  readonly signal?: AbortSignal;
  /** Called with each result when its check ends. An error that it throws ends the run. */
  readonly onResult?: (result: Result) => void;
}

/** Address of the suite's receiver. */
export interface ReceiverOptions {
  /** Host name or address to listen on. Default: `127.0.0.1`. */
  readonly host?: string;
  /** Port to listen on. Default: 0, a free port. */
  readonly port?: number;
  /**
   * URL under which the host reaches the receiver, such as the `https` URL of a proxy. Default: `http://<host>:<port>`.
   */
  readonly url?: string;
}

/**
 * Settings of the host, in ms. Checks of the circuit's cooldown and of the keep-alive are skipped unless their setting
 * is given and at most 15 000: the interface's own values are too long to wait for.
 */
export interface Durations {
  /** Time limit of one delivery attempt. Default: 5000, as in the interface. */
  readonly attemptTimeoutMs?: number;
  /** Cooldown after which an open circuit allows a probe. Default: unknown. */
  readonly circuitCooldownMs?: number;
  /** Longest time between two keep-alive comments of an idle event stream. Default: unknown. */
  readonly keepAliveMs?: number;
}

/** Longest of the host's durations that the suite waits for, in ms. */
export const LONGEST_MS = 15_000;

/**
 * Thrown for options that cannot be used. The message names the option and the remedy; it contains no key.
 *
 * @example
 * import { runConformance, UsageError } from '@svc/conformance';
 *
 * await runConformance({ url: 'not a URL', keys: {} }).catch((error: unknown) => {
 *   if (error instanceof UsageError) console.error(error.message);
 * });
 */
export class UsageError extends TypeError {
  override readonly name = 'UsageError';
}
