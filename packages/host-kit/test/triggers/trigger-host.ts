import { createHmac } from 'node:crypto';
import { apiKeyLane, hashApiKey, type KeyQuota } from '@svc/auth/api-key';
import { createHost, type HostOptions, storedKeys, type TriggerOptions, type WorkflowEngine } from '@svc/host-kit';
import type { Store } from '../../src/ports/store.ts';
import { type ManualClock, manualClock } from '../streams/manual-clock.ts';

const SCOPES = ['runs:create', 'runs:read', 'webhooks:manage', 'keys:manage'];
const SIGNED_BY = 'a secret of github';

/** The keys of the callers, by the name of the caller. */
const KEYS = {
  owner: { id: 'key_owner', workspaces: ['acme-prod'], principal: 'p_owner', scopes: SCOPES, tenant: 'acme' },
  operator: { id: 'key_operator', workspaces: 'all', principal: 'p_operator', scopes: SCOPES, tenant: 'acme' },
  narrow: {
    id: 'key_narrow',
    workspaces: ['acme-prod'],
    principal: 'p_n',
    scopes: ['webhooks:manage'],
    tenant: 'acme',
  },
  dev: { id: 'key_dev', workspaces: ['acme-dev'], principal: 'p_dev', scopes: SCOPES, tenant: 'acme' },
  stranger: { id: 'key_stranger', workspaces: 'all', principal: 'p_s', scopes: SCOPES, tenant: 'umbrella' },
} as const;

export type Caller = keyof typeof KEYS;

/** An engine whose runs complete at once, and that a test can make refuse or fail. */
export interface EchoEngine extends WorkflowEngine {
  /** The workflows that it does not refuse. */
  readonly known: Set<string>;
  /** Thrown at each request for a run. */
  fault: Error | undefined;
  readonly executed: readonly { readonly runId: string; readonly inputs: object; readonly workflowId: string }[];
}

export function echoEngine(): EchoEngine {
  const executed: { readonly runId: string; readonly inputs: object; readonly workflowId: string }[] = [];
  const engine: EchoEngine = {
    version: 1,
    accepts(workflowId: string) {
      if (engine.fault !== undefined) throw engine.fault;
      return engine.known.has(workflowId) || { field: 'workflowId', problem: 'must be a workflow' };
    },
    execute: async ({ runId, inputs, workflowId }) => {
      executed.push({ runId, inputs, workflowId });
      return { status: 'completed', outputs: {} };
    },
    known: new Set(['echo']),
    fault: undefined,
    executed,
  };
  return engine;
}

export type TriggerHost = Awaited<ReturnType<typeof triggerHost>>;

export interface TriggerHostOptions {
  readonly store: Store;
  readonly clock?: ManualClock;
  readonly engine?: EchoEngine;
  readonly triggers?: Partial<TriggerOptions>;
  readonly more?: Partial<HostOptions>;
  /** The quota of the key of the owner. Default: none. */
  readonly quota?: KeyQuota;
}

/** Starts a host that serves triggers, on a clock that a test moves. */
export async function triggerHost({
  store,
  clock = manualClock(),
  engine = echoEngine(),
  triggers,
  more,
  quota,
}: TriggerHostOptions) {
  const configured = Object.values(KEYS).map((key) => ({
    ...{ ...key, mode: 'live' as const, name: key.id },
    hash: hashApiKey(secretOf(key.id)),
    ...(key.id === KEYS.owner.id && quota !== undefined && { quota }),
  }));
  const keys = storedKeys({ store, configured });
  const host = createHost({
    ...{ store, engine },
    authenticate: [apiKeyLane({ keys, now: clock.now })],
    secretKey: new Uint8Array(32),
    audit: { signer: { publicKey: 'MCowBQYDK2VwAyEA', sign: async () => new Uint8Array(64) } },
    baseUrl: 'https://svc.example.com',
    ...more,
    authorization: {
      hasWorkspace: (tenant, workspace) => tenant === 'acme' && workspace.startsWith('acme-'),
      ...more?.authorization,
    },
    features: { apiKeys: keys, triggers: triggers ?? {}, ...more?.features },
    ports: { clock, ...more?.ports },
  });
  await host.start();

  async function call(caller: Caller, method: string, path: string, body?: object) {
    const headers = {
      authorization: `Bearer ${secretOf(KEYS[caller].id)}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(!path.startsWith('/v1/') && { 'svc-version': '2' }),
    };
    const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) };
    return answerOf(await host.fetch(new Request(`https://svc.example.com${path}`, init), { address: '192.0.2.7' }));
  }

  /** Registers a trigger whose sender signs like GitHub. */
  async function register(fields: object = {}, caller: Caller = 'owner') {
    const { status, body } = await call(caller, 'POST', '/trigger-subscriptions', { ...GITHUB, ...fields });
    if (status !== 201) throw new Error(`The registration was refused: ${JSON.stringify(body)}`);
    const triggerId = String(body.subscription.subscriptionId).split('/').at(-1) ?? '';
    return { triggerId, ...body };
  }

  /** Posts the message of a sender. */
  async function send(triggerId: string, message: unknown, options: SendOptions = {}) {
    const { secret = SIGNED_BY, headers = {}, address = '192.0.2.1' } = options;
    const body = typeof message === 'string' ? message : JSON.stringify(message);
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const signed = {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-hub-signature-256': `sha256=${signature}`,
      ...headers,
    };
    const request = new Request(`https://svc.example.com/host/example/ingest/${triggerId}`, {
      ...{ method: 'POST', headers: signed, body },
    });
    return answerOf(await host.fetch(request, { address }));
  }

  /** The facts of an action in the audit log. */
  async function facts(action: string) {
    clock.advance(100);
    // The facts about requests are written in batches, one transaction after another.
    for (let batch = 0; batch < 3; batch++) await store.probe();
    const found = [];
    for await (const entry of store.audit.entries(1, 10_000)) if (entry.action === action) found.push(entry);
    return found;
  }

  async function runs() {
    return store.runs.list({ tenant: 'acme', workspaces: 'all', mode: 'live' }, { before: undefined, limit: 1000 });
  }

  return { host, store, clock, engine, call, register, send, facts, runs };
}

export interface SendOptions {
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly address?: string;
}

export const GITHUB = {
  source: 'webhook',
  mapping: { workflowId: 'echo', inputs: { order: { pointer: '/body/order' }, origin: { constant: 'shop' } } },
  webhook: { preset: 'github' },
  secret: SIGNED_BY,
};

function secretOf(keyId: string): string {
  return `operator-key-of-the-trigger-host-${keyId}-0123456789`;
}

async function answerOf(response: Response) {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}
