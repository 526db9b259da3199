import { EventEmitter, once } from 'node:events';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type HostOptions, type LogRecord } from '@svc/host-kit';

const KEY = 'operator-key-of-the-recorded-host-0123456789';
const SCOPES = [
  'runs:create',
  'runs:read',
  'runs:cancel',
  'approvals:respond',
  'webhooks:manage',
  'workspace:write',
  'workspace:read',
  'byok:manage',
  'artifacts:read',
];

/** A delivery as its receiver got it. */
export interface Received {
  readonly eventType: string;
  // biome-ignore lint/suspicious/noExplicitAny: a body of either major; each test knows which.
  readonly body: any;
  readonly webhookId: string;
}

/** Starts a host whose deliveries are recorded. The key reaches the workspace `acme-prod`; the wide key reaches all. */
export async function recordedHost(options: Pick<HostOptions, 'store' | 'engine'> & Partial<HostOptions>) {
  const received: Received[] = [];
  const logged: LogRecord[] = [];
  const deliveries = new EventEmitter();
  const of = { tenant: 'acme', scopes: SCOPES, mode: 'live' } as const;
  const keys = memoryKeyStore([
    { ...of, id: 'key_1', hash: hashApiKey(KEY), workspaces: ['acme-prod'], principal: 'p_1' },
    { ...of, id: 'key_2', hash: hashApiKey(`${KEY}-wide`), workspaces: 'all', principal: 'p_2' },
  ]);
  const host = createHost({
    authenticate: [apiKeyLane({ keys })],
    secretKey: new Uint8Array(32),
    ...options,
    authorization: { hasWorkspace: () => true, ...options.authorization },
    ports: {
      log: (record) => logged.push(record),
      async transport({ body, headers }) {
        const sent = new Headers(headers);
        received.push({
          eventType: sent.get('svc-event-type') ?? '',
          webhookId: sent.get('svc-webhook-id') ?? '',
          body: JSON.parse(new TextDecoder().decode(body)),
        });
        deliveries.emit('delivery');
        return { kind: 'answered', status: 204, retryAfter: undefined, durationMs: 1 };
      },
      ...options.ports,
    },
  });
  await host.start();

  async function call(
    path: string,
    body?: object,
    { wide = false, method = body === undefined ? 'GET' : 'POST' } = {},
  ) {
    const headers = {
      authorization: `Bearer ${wide ? `${KEY}-wide` : KEY}`,
      ...(!path.startsWith('/v1') && { 'svc-version': '2' }),
      ...(body && { 'content-type': 'application/json' }),
    };
    const response = await host.fetch(
      new Request(`http://host.test${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) }),
    );
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  }

  return {
    host,
    received,
    logged,
    call,
    /** Registers a subscription in a major. */
    subscribe: (major: 1 | 2, events: readonly string[]) =>
      major === 1
        ? call('/v1/webhooks', { url: 'https://hooks.example/v1', events, tenantId: 'acme-prod' })
        : call('/webhooks', { url: 'https://hooks.example/v2', events }),
    /** Creates a run and returns its id in major 1. */
    async start(workflowId: string, inputs: object = {}, wide = false): Promise<string> {
      const { status, body } = await call('/v1/runs', { workflowId, inputs }, { wide });
      if (status !== 201) throw new Error(`POST /v1/runs answered ${status}: ${JSON.stringify(body)}`);
      return body.runId;
    },
    /** Waits until a run has one of the statuses, and returns it. */
    async comesTo(runId: string, ...statuses: readonly string[]) {
      for (;;) {
        const { body } = await call(`/v1/runs/${runId}`, undefined, { wide: true });
        if (statuses.includes(body.status)) return body;
        const heard = new AbortController();
        const { signal } = heard;
        const delivery = once(deliveries, 'delivery', { signal }).catch(() => {});
        await Promise.race([delivery, new Promise((resolve) => setTimeout(resolve, 20))]);
        heard.abort();
      }
    },
    /** Waits until this many deliveries about a run have come. */
    async deliveriesOf(runId: string, count: number): Promise<readonly Received[]> {
      for (;;) {
        const found = received.filter(({ body }) => body.runId.endsWith(runId));
        if (found.length >= count) return found;
        await once(deliveries, 'delivery');
      }
    },
    /** Reads the log of a run in a major. */
    async log(major: 1 | 2, runId: string) {
      const path = major === 1 ? `/v1/runs/${runId}` : `/runs/${encodeURIComponent(`acme/${runId}`)}`;
      const { body } = await call(`${path}/events/poll?timeout=1`, undefined, { wide: true });
      return body.events;
    },
    stop: () => host.stop(0),
  };
}

/** A host of `recordedHost`. */
export type RecordedHost = Awaited<ReturnType<typeof recordedHost>>;
