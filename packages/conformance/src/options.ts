import type { KeyName } from './keys.ts';
import type { Result } from './report/report.ts';
import type { Major } from './rule.ts';

/** What a run of the suite is given. */
export interface ConformanceOptions {
  /** The origin of the host. */
  readonly url: string;
  readonly keys?: Readonly<Partial<Record<KeyName, string>>>;
  /** The workspace that the main key is for. Without it, what the host says of a run of that key. */
  readonly workspace?: string;
  /** The majors to look at, of those that the host advertises. All of them without it. */
  readonly majors?: readonly Major[];
  /** Ids or areas. All checks without it. */
  readonly only?: readonly string[];
  /** Where the suite receives deliveries; `false` for not at all. A free port of 127.0.0.1 without it. */
  readonly receiver?: ReceiverOptions | false;
  /** A workflow that makes an artifact of its input `content`. Without one, artifacts are not looked at. */
  readonly artifactWorkflow?: string;
  readonly durations?: Durations;
  /** How many checks run at the same time. 8 without it. */
  readonly concurrency?: number;
  /** How long the suite waits for what has to happen, such as a delivery, in ms. 10 000 without it. */
  readonly patienceMs?: number;
  /** How long a request may take, in ms. 10 000 without it. */
  readonly requestTimeoutMs?: number;
  /** Ends the run; what was made is still cleaned up. */
  readonly signal?: AbortSignal;
  /** Told of every result as it is known. */
  readonly onResult?: (result: Result) => void;
}

export interface ReceiverOptions {
  readonly host?: string;
  readonly port?: number;
  /** How the host reaches the receiver, when that is not `http://<host>:<port>`. */
  readonly url?: string;
}

/** The host's settings, in ms, where they are not the interface's. What cannot be waited for is not looked at. */
export interface Durations {
  /** Of one attempt in best-effort mode. 5000 without it. */
  readonly attemptTimeoutMs?: number;
  /** How long a circuit stays open. */
  readonly circuitCooldownMs?: number;
  /** At the most between two signs of life of an idle event stream. */
  readonly keepAliveMs?: number;
}

/** The longest of the host's durations that the suite waits for. */
export const LONGEST_MS = 15_000;

/** Wrong use of the suite: the sentence is for the person who wrote the options. */
export class UsageError extends TypeError {}
