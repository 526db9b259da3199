import type { Chance } from '@svc/tools/chance';

/** A workspace of a tenant in one mode, with its API key. Nothing of one realm may be visible in another. */
export interface Realm {
  readonly tenant: string;
  readonly workspace: string;
  readonly mode: 'live' | 'test';
  readonly key: string;
}

export const REALMS = {
  live: { tenant: 'acme', workspace: 'acme-prod', mode: 'live', key: 'soak_key_of_the_live_workspace_of_acme' },
  test: { tenant: 'acme', workspace: 'acme-prod', mode: 'test', key: 'soak_key_of_the_test_mode_of_this_acme' },
  other: { tenant: 'umbrella', workspace: 'hive', mode: 'live', key: 'soak_key_of_another_tenant_altogether' },
} as const satisfies Readonly<Record<string, Realm>>;

export type RealmName = keyof typeof REALMS;

/** The workflows that clients run, each with the event types of its whole log. */
export const WORKFLOWS: Readonly<
  Record<string, { readonly types: readonly string[]; inputs(chance: Chance): object }>
> = {
  echo: {
    types: ['run.started', 'node.started', 'node.completed', 'run.completed'],
    inputs: (chance) => ({ text: `“${chance.below(1e9)}” – ünïcode` }),
  },
  fail: {
    types: ['run.started', 'node.started', 'node.failed', 'run.failed'],
    inputs: (chance) => ({ message: `requested failure ${chance.below(1e9)}` }),
  },
  // Long enough to be running when a host is killed.
  delay: {
    types: ['run.started', 'node.started', 'node.completed', 'run.completed'],
    inputs: (chance) => ({ ms: chance.below(LONGEST_DELAY_MS) }),
  },
};

/** The longest sleep of a run. */
export const LONGEST_DELAY_MS = 4000;

export const TAGS = ['even', 'odd'] as const;

const EVERYTHING = ['run.started', 'node.started', 'node.completed', 'node.failed', 'run.completed', 'run.failed'];
const ENDINGS = ['run.completed', 'run.failed'];

/** A subscription to register. In major 2 it is durable, in major 1 best effort. */
export interface PlannedSubscription {
  /** Unique; also the path of its deliveries. */
  readonly name: string;
  readonly realm: RealmName;
  /** The index of its receiver. */
  readonly receiver: number;
  readonly major: 1 | 2;
  readonly events: readonly string[];
  readonly tags: readonly string[];
  /** The status of every response of its receiver. Default: depends on the receiver's weather. */
  readonly answer?: number;
}

const planned = (
  name: string,
  realm: RealmName,
  receiver: number,
  major: 1 | 2,
  fields: Partial<PlannedSubscription> = {},
): PlannedSubscription => ({ name, realm, receiver, major, events: EVERYTHING, tags: [], ...fields });

export const RECEIVERS = 3;

/** The subscriptions that exist from before the first run to the end. */
export const STANDING: readonly PlannedSubscription[] = [
  planned('live-all', 'live', 0, 2),
  planned('live-even', 'live', 1, 2, { tags: ['even'] }),
  planned('live-best-effort', 'live', 1, 1),
  // Produces the dead letters.
  planned('live-broken', 'live', 2, 2, { events: ENDINGS, answer: 500 }),
  // Answers 410 from some time on.
  planned('live-leaving', 'live', 2, 2, { events: ENDINGS }),
  planned('test-all', 'test', 2, 2),
  planned('test-best-effort', 'test', 0, 1, { events: ENDINGS }),
  planned('other-all', 'other', 0, 2),
  planned('other-best-effort', 'other', 2, 1),
];

/** Returns a subscription that is registered and removed during the soak. */
export function passing(index: number): PlannedSubscription {
  return planned(`passing-${index}`, 'live', index % RECEIVERS, 2);
}

export const RETRY_POLICY = { maxAttempts: 8, backoff: 'exponential', delayMs: 200, maxDelayMs: 2000 } as const;
export const ATTEMPT_TIMEOUT_MS = 1000;
