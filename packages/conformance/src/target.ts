import type { Answer } from './http/answer.ts';
import type { KeyName } from './keys.ts';
import type { Durations } from './options.ts';
import type { Receiver } from './receiver/receiver.ts';
import type { Major } from './rule.ts';

/** What is known of the host before the checks begin. */
export interface Target {
  readonly origin: string;
  /** The majors that it advertises. */
  readonly majors: readonly Major[];
  readonly protocolVersions: readonly string[];
  readonly preferredVersion: string | undefined;
  /** Its discovery document in the representation of each major. */
  readonly documents: Readonly<Partial<Record<Major, Document>>>;
  readonly keys: Readonly<Partial<Record<KeyName, string>>>;
  /** Of the main key, as far as the host or the user has said. */
  readonly tenant: string | undefined;
  readonly workspace: string | undefined;
  /** Scopes that the host says the main key lacks. */
  readonly lacking: ReadonlySet<string>;
  readonly receiver: Receiver | undefined;
  /** Why no deliveries can be received, where that is so. */
  readonly undeliverable: string | undefined;
  /** Whether the receiver is on this machine, so that the host must have been opened to loopback. */
  readonly receivesOnLoopback: boolean;
  readonly artifactWorkflow: string | undefined;
  readonly durations: Durations;
  /** How long to wait for what has to happen. */
  readonly patienceMs: number;
}

export type Document = Readonly<Record<string, unknown>>;

/** A record of the discovery document that a major advertises, or undefined. */
export function advertised({ documents }: Target, major: Major, name: string): Document | undefined {
  const record = documents[major]?.[name];
  if (!isRecord(record)) return undefined;
  // Major 2 advertises by presence; major 1 says so.
  return major === 2 || record.supported === true ? record : undefined;
}

export function isRecord(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether the host retries what it delivers to subscriptions of a major. Those of major 2 are always durable. */
export function isDurable(target: Target, major: Major): boolean {
  return major === 2 || advertised(target, 1, 'webhooks')?.durable === true;
}

/** How often a durable delivery is attempted, where the host says so. */
export function maxAttemptsOf(target: Target): number | undefined {
  const policies = [
    advertised(target, 2, 'webhooks'),
    advertised(target, 1, 'webhooks'),
    advertised(target, 1, 'triggerBridge'),
  ];
  const found = policies.map((record) => record?.retryPolicy).find(isRecord)?.maxAttempts;
  return typeof found === 'number' ? found : undefined;
}

/** The workflows that the host ships for suites like this one. */
export function fixturesOf({ documents }: Target): readonly string[] {
  const named = [documents[1]?.fixtures, documents[2]?.fixtures].flatMap((list) => (Array.isArray(list) ? list : []));
  return named.filter((name): name is string => typeof name === 'string');
}

/** The host did not answer at all, or not as any host of this protocol would. */
export class Unreachable extends Error {
  readonly answer: Answer | undefined;

  constructor(message: string, answer?: Answer) {
    super(message);
    this.answer = answer;
  }
}
