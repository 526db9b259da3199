import type { FixtureName, OwnWorkflows } from './fixtures.ts';
import type { KeyName } from './keys.ts';
import type { Durations } from './options.ts';
import type { Receiver } from './receiver/receiver.ts';
import type { Major } from './rule.ts';

/** Facts about the host that are known before the checks begin. */
export interface Target {
  readonly origin: string;
  /** Majors that the host advertises. */
  readonly majors: readonly Major[];
  readonly protocolVersions: readonly string[];
  readonly preferredVersion: string | undefined;
  /** Discovery document in the representation of each major. */
  readonly documents: Readonly<Partial<Record<Major, Document>>>;
  /** API description of each major that serves one. */
  readonly descriptions: Readonly<Partial<Record<Major, Document>>>;
  readonly keys: Readonly<Partial<Record<KeyName, string>>>;
  /** Tenant of the main key, when the host names it. */
  readonly tenant: string | undefined;
  /** Workspace of the main key, when the user or the host names it. */
  readonly workspace: string | undefined;
  /** Scopes that the main key lacks, by the responses of the host. */
  readonly lacking: ReadonlySet<string>;
  readonly receiver: Receiver | undefined;
  /** Reason why deliveries cannot be received, if any. */
  readonly undeliverable: string | undefined;
  /** True when the receiver has a loopback address: the host must then be configured to allow it. */
  readonly receivesOnLoopback: boolean;
  /** Workflows of the host that stand in for fixtures. */
  readonly workflows: OwnWorkflows;
  readonly artifactWorkflow: string | undefined;
  readonly durations: Durations;
  /** Longest wait for an effect of a request, in ms. */
  readonly patienceMs: number;
}

export type Document = Readonly<Record<string, unknown>>;

/** Returns a record of the discovery document, or undefined when the major does not advertise it. */
export function advertised({ documents }: Target, major: Major, name: string): Document | undefined {
  const record = documents[major]?.[name];
  if (!isRecord(record)) return undefined;
  // Major 2 advertises a record by its presence, major 1 by `supported: true`.
  return major === 2 || record.supported === true ? record : undefined;
}

export function isRecord(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the path of a mount that `extensions` of discovery names as `<org>.<name>`, without `/v1`. */
export function mountPath({ documents }: Target, major: Major, name: string): string | undefined {
  const extensions = documents[major]?.extensions;
  if (!isRecord(extensions)) return undefined;
  const found = Object.entries(extensions).find(([each]) => each.endsWith(`.${name}`))?.[1];
  return isRecord(found) && typeof found.path === 'string' ? found.path : undefined;
}

/** Returns whether deliveries to subscriptions of a major are durable. In major 2 they always are. */
export function isDurable(target: Target, major: Major): boolean {
  return major === 2 || advertised(target, 1, 'webhooks')?.durable === true;
}

/** Returns the advertised number of attempts of a durable delivery. */
export function maxAttemptsOf(target: Target): number | undefined {
  const policies = [
    advertised(target, 2, 'webhooks'),
    advertised(target, 1, 'webhooks'),
    advertised(target, 1, 'triggerBridge'),
  ];
  const found = policies.map((record) => record?.retryPolicy).find(isRecord)?.maxAttempts;
  return typeof found === 'number' ? found : undefined;
}

/** Tells whether the host has a fixture workflow: by its discovery document, or by a workflow that stands in for it. */
export function hasFixture({ documents, workflows }: Target, name: FixtureName): boolean {
  if (workflows[name] !== undefined) return true;
  const named = [documents[1]?.fixtures, documents[2]?.fixtures].flatMap((list) => (Array.isArray(list) ? list : []));
  return named.includes(name);
}

/**
 * Thrown when the URL does not respond, or does not serve a discovery document. The message names the URL and the
 * cause.
 *
 * @example
 * import { runConformance, Unreachable } from '@svc/conformance';
 *
 * await runConformance({ url: 'http://127.0.0.1:9', keys: {} }).catch((error: unknown) => {
 *   if (error instanceof Unreachable) console.error(error.message);
 * });
 */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}
