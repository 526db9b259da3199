import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type HostOptions } from '@svc/host-kit';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { manualClock } from '../streams/manual-clock.ts';
import { echoEngine } from '../triggers/trigger-host.ts';

const SCOPES = ['runs:create', 'runs:read', 'webhooks:manage', 'audit:read'];

/** The keys of the callers, by the name of the caller. */
const KEYS = {
  owner: { tenant: 'acme', workspaces: ['acme-prod'], scopes: SCOPES },
  operator: { tenant: 'acme', workspaces: 'all', scopes: SCOPES },
  dev: { tenant: 'acme', workspaces: ['acme-dev'], scopes: SCOPES },
  reader: { tenant: 'acme', workspaces: 'all', scopes: ['runs:read'] },
  stranger: { tenant: 'umbrella', workspaces: 'all', scopes: SCOPES },
} as const;

export type Caller = keyof typeof KEYS;
export type PortalHost = Awaited<ReturnType<typeof portalHost>>;

export const PAGE = 'https://svc.example.com/portal/';
export const ALL_ACTIONS = ['view', 'redrive', 'edit', 'pause', 'test', 'rotate'];

/** A host with a portal, on a clock that a test moves. It is not started, so it delivers nothing by itself. */
export async function portalHost({ store = memoryStore(), ...more }: Partial<HostOptions> = {}) {
  const clock = manualClock();
  const records = Object.entries(KEYS).map(([name, key]) => ({
    ...{ ...key, id: `key_${name}`, principal: `p_${name}`, mode: 'live' as const, hash: hashApiKey(secretOf(name)) },
    ...(name === 'dev' && { expiresAt: clock.now() + 300_000 }),
  }));
  const host = createHost({
    ...{ store, engine: echoEngine() },
    authenticate: [apiKeyLane({ keys: memoryKeyStore(records), now: clock.now })],
    secretKey: new Uint8Array(32),
    audit: { signer: { publicKey: 'MCowBQYDK2VwAyEA', sign: async () => new Uint8Array(64) } },
    baseUrl: 'https://svc.example.com',
    ...more,
    authorization: { hasWorkspace: (tenant, workspace) => workspace.startsWith(`${tenant}-`), ...more.authorization },
    features: { portal: { pageUrl: PAGE }, ...more.features },
    ports: { clock, transport: async () => ({ kind: 'failed', reason: 'timeout', durationMs: 1 }), ...more.ports },
  });

  async function send(
    credential: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    address = '192.0.2.7',
  ) {
    const headers = {
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(!path.startsWith('/v1/') && !path.startsWith('/host/') && { 'svc-version': '2' }),
    };
    const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) };
    const response = await host.fetch(new Request(`https://svc.example.com${path}`, init), { address });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  }

  const call = (caller: Caller, method: string, path: string, body?: unknown) =>
    send(secretOf(caller), method, path, body);

  /** Registers a subscription, and returns its id. */
  async function register(caller: Caller, events: readonly string[], workspace: string): Promise<string> {
    const body = {
      url: 'https://93.184.216.34/hooks',
      events,
      tenantId: workspace,
    };
    const registered = await call(caller, 'POST', '/v1/webhooks', body);
    if (registered.status !== 201) throw new Error(`The registration was refused: ${JSON.stringify(registered.body)}`);
    return registered.body.webhookId;
  }

  const create = (caller: Caller, fields: object = {}) =>
    call(caller, 'POST', '/host/example/portal-sessions', { actions: ['view'], ...fields });

  const exchange = (code: string, fields: object = {}, address = '192.0.2.9') =>
    send(undefined, 'POST', '/host/example/portal/exchange', { code, ...fields }, address);

  /** Creates a session, exchanges its code, and returns a function that calls the portal. */
  async function open(caller: Caller, fields: object = {}) {
    const created = await create(caller, fields);
    if (created.status !== 201) throw new Error(`The session was refused: ${JSON.stringify(created.body)}`);
    const { body } = await exchange(created.body.code);
    const token: string = body.token;
    const portal = (method: string, path: string, json?: unknown) =>
      send(token, method, `/host/example/portal${path}`, json);
    return { token, session: created.body.session, code: created.body.code as string, portal };
  }

  /** Puts dead letters of an event type into the outbox. */
  async function deadLetters(webhookId: string, ...types: readonly string[]): Promise<string[]> {
    const now = clock.now();
    const deliveries = types.map((eventType, index) => ({
      ...{ deliveryId: `dlv_${webhookId.slice(-20)}_${index}`, webhookId, runId: 'run_1', eventId: `evt_${index}` },
      ...{ sequence: index, eventType, body: new Uint8Array(), attempts: 0, dueAt: now },
    }));
    await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
    const room = { hasRoomFor: () => true, capacityOf: () => 100, take() {} };
    const claims = await store.deliveries.claim({ now, leaseUntil: now + 1000, limit: 100, room });
    const settlement = { kind: 'dead', at: now, expiresAt: now + 9e9, attempts: 3, lastStatus: 500 } as const;
    const attempts = claims.map(({ deliveryId, eventType, sequence }) => ({
      ...{ deliveryId, webhookId, runId: 'run_1', sequence, eventType, attempt: 3, at: now, durationMs: 5 },
      ...{ outcome: 'failed' as const, status: 500, reason: undefined },
    }));
    await store.transaction(async (transaction) => {
      await store.deliveries.settle(
        claims.map((claim) => ({ claim, settlement })),
        transaction,
      );
      await store.attempts.record(attempts, transaction);
    });
    return deliveries.map(({ deliveryId }) => deliveryId);
  }

  /** The facts of the audit log whose action begins so. */
  async function facts(prefix: string) {
    const found = [];
    for await (const entry of store.audit.entries(1, 10_000)) if (entry.action.startsWith(prefix)) found.push(entry);
    return found;
  }

  return { host, store, clock, send, call, register, create, exchange, open, deadLetters, facts };
}

export function secretOf(name: string): string {
  return `operator-key-of-the-portal-host-${name}-0123456789`;
}
