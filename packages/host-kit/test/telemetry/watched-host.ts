import { generateKeyPairSync } from 'node:crypto';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { ed25519Signer } from '@svc/auth/audit';
import {
  type Clock,
  createHost,
  type Host,
  type HostOptions,
  systemClock,
  type TransportRequest,
  type TransportVerdict,
  type WorkflowEngine,
} from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { vi } from 'vitest';
import { type Recording, recording } from './recording.ts';

export const KEY = 'operator-key-of-the-telemetry-0123456789';
/** A key that may only read runs. */
export const READER = 'reader-key-of-the-telemetry-0123456789';
export const OTHER_TENANT = 'foreign-key-of-the-telemetry-0123456789';

export type Verdict =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed' | 'denied'; readonly reason: string };

/** A host with the SDK, a receiver whose answers the test chooses, and a client with one key. */
export interface WatchedHost extends Recording {
  readonly host: Host;
  /** The answer of the receiver from now on. */
  verdict: Verdict;
  /** Every request that the receiver got. */
  readonly posts: readonly TransportRequest[];
  call(
    path: string,
    options?: CallOptions,
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
  register(fields?: object): Promise<string>;
  run(fields?: object): Promise<string>;
}

export interface CallOptions {
  readonly method?: string;
  /** Default `KEY`. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export const CLEANUP: (() => Promise<void>)[] = [];

/** @param from `made`: the test starts the host itself */
export async function watchedHost(
  options: Partial<HostOptions> = {},
  from: 'started' | 'made' = 'started',
): Promise<WatchedHost> {
  const recorded = recording();
  const posts: TransportRequest[] = [];
  const { privateKey } = generateKeyPairSync('ed25519');
  const host = createHost({
    store: memoryStore(),
    authenticate: [
      apiKeyLane({
        keys: memoryKeyStore([
          record('key_named_hyacinth', KEY, 'tenant-amaryllis', 'runs:create', 'runs:read', 'webhooks:manage'),
          record('key_reader', READER, 'tenant-amaryllis', 'runs:read'),
          record('key_foreign', OTHER_TENANT, 'tenant-of-others', 'webhooks:manage'),
        ]),
      }),
    ],
    engine: echo,
    secretKey: new Uint8Array(32),
    audit: {
      signer: await ed25519Signer(privateKey.export({ type: 'pkcs8', format: 'pem' })),
      checkpointIntervalEntries: 2,
    },
    ...options,
    authorization: { hasWorkspace: () => true, ...options.authorization },
    ports: {
      transport: async (request): Promise<TransportVerdict> => {
        posts.push(request);
        const { verdict } = watched;
        return verdict.kind === 'answered'
          ? { ...verdict, retryAfter: undefined, durationMs: 7 }
          : { ...verdict, durationMs: 7 };
      },
      telemetry: recorded.telemetry,
      ...options.ports,
    },
  });
  if (from === 'started') await host.start();
  CLEANUP.push(() => host.stop(0));
  const watched: WatchedHost = {
    ...recorded,
    host,
    posts,
    verdict: { kind: 'answered', status: 204 },
    async call(path, { body, headers, key = KEY, method = body === undefined ? 'GET' : 'POST' } = {}) {
      const request = new Request(`http://host-daffodil.test${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const response = await host.fetch(request);
      const text = await response.text();
      return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : {} };
    },
    async register(fields = {}) {
      const hook = { url: 'https://hooks-edelweiss.example/inbox', events: ['run.completed'], ...fields };
      const { body } = await watched.call('/v1/webhooks', { body: { ...hook, tenantId: 'workspace-begonia' } });
      return String(body.webhookId);
    },
    async run(fields = {}) {
      const { body } = await watched.call('/v1/runs', { body: { workflowId: 'echo', inputs: {}, ...fields } });
      return String(body.runId);
    },
  };
  return watched;
}

function record(id: string, key: string, tenant: string, ...scopes: string[]) {
  const workspaces = ['workspace-begonia'];
  return { id, hash: hashApiKey(key), tenant, workspaces, principal: 'p_camellia', scopes, mode: 'live' } as const;
}

/** Completes with its inputs; fails when they have `fail: true`. */
const echo: WorkflowEngine = {
  async execute({ inputs }) {
    if (inputs.fail === true) return { status: 'failed', error: { code: 'x', message: 'a peony' } };
    return { status: 'completed', outputs: inputs };
  },
};

/** Waits until the condition holds. A condition that never holds fails the test by `LONGEST_WAIT_MS`, however busy the machine is. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(holds, { timeout: LONGEST_WAIT_MS, interval: 5 });
}

export const LONGEST_WAIT_MS = 60_000;

/** The machine's clock, which a test can put forward. Timers that are already set keep their time. */
export interface ShiftedClock extends Clock {
  forward(ms: number): void;
}

export function shiftedClock(): ShiftedClock {
  let shiftMs = 0;
  return {
    now: () => systemClock.now() + shiftMs,
    monotonic: () => systemClock.monotonic() + shiftMs,
    after: systemClock.after,
    forward(ms) {
      shiftMs += ms;
    },
  };
}
