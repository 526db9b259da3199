import { randomBytes } from 'node:crypto';

export const KEY = 'operator_brought_key_of_all_the_clients';

/** The running clients. */
export interface Clients {
  /** One sentence for each response that the client did not deserve, at most 50. */
  readonly findings: string[];
  /** Returns the number of responses so far. */
  readonly requests: () => number;
  /** The ids of the most recently created runs, at most 400, newest last. */
  readonly recentRuns: () => readonly string[];
  /** Resolves when every client has finished its last request. */
  stop(): Promise<void>;
}

/** One kind of request that clients send. */
interface Operation {
  /** Its share of all requests, in percent. */
  readonly share: number;
  /** The only statuses that the host may answer with. */
  readonly deserves: readonly number[];
  /** Makes the request; returns undefined while it needs a run and there is none. */
  readonly request: (recent: readonly string[]) => PlannedRequest | undefined;
}

interface PlannedRequest {
  readonly path: string;
  readonly init?: RequestInit;
  /** Receives the parsed body of the response. */
  readonly then?: (body: unknown) => void;
}

export const CLIENTS = 16;
const RECENT_RUNS = 400;
const DEADLINE_MS = 30_000;

/**
 * Registers a subscription for each receiver, then starts sixteen clients that send all kinds of requests without a
 * pause.
 */
export async function startClients(url: string, receivers: readonly string[]): Promise<Clients> {
  const recent: string[] = [];
  const findings: string[] = [];
  let requests = 0;
  let isStopping = false;

  for (const receiver of receivers) {
    const events = ['run.completed', 'run.failed'];
    await ask({
      share: 0,
      deserves: [201],
      request: () => json('/v1/webhooks', { url: receiver, events, tenantId: 'acme-prod' }),
    });
  }
  const operations = operationsWith((runId) => {
    recent.push(runId);
    if (recent.length > RECENT_RUNS) recent.shift();
  }, receivers[0] ?? '');
  const dice = operations.flatMap((operation) => Array.from({ length: operation.share }, () => operation));
  const working = Array.from({ length: CLIENTS }, async () => {
    while (!isStopping) {
      const operation = dice[Math.floor(Math.random() * dice.length)];
      if (operation !== undefined) await ask(operation);
    }
  });

  return {
    findings,
    requests: () => requests,
    recentRuns: () => recent,
    async stop() {
      isStopping = true;
      await Promise.all(working);
    },
  };

  async function ask({ request, deserves }: Operation): Promise<void> {
    const asked = request(recent);
    if (asked === undefined) return;
    const { path, init = {}, then } = asked;
    const name = `${init.method ?? 'GET'} ${path}`;
    try {
      const headers = { authorization: `Bearer ${KEY}`, ...init.headers };
      const response = await fetch(url + path, { ...init, headers, signal: AbortSignal.timeout(DEADLINE_MS) });
      const text = await response.text();
      requests++;
      if (!deserves.includes(response.status)) found(`${name} answered ${response.status}: ${text.slice(0, 200)}`);
      else if (text !== '') then?.(JSON.parse(text));
    } catch (error) {
      found(`${name} got no response: ${error instanceof Error ? error.message : error}`);
    }
  }

  function found(finding: string): void {
    if (findings.length < 50) findings.push(finding);
  }
}

function operationsWith(created: (runId: string) => void, receiver: string): readonly Operation[] {
  const createdIn = (body: unknown) => {
    if (typeof body === 'object' && body !== null && 'runId' in body) created(String(body.runId));
  };
  const start = (workflowId: string, inputs: object, headers: Record<string, string> = {}) =>
    json('/v1/runs', { workflowId, inputs }, headers, createdIn);
  const some = (recent: readonly string[], path: (runId: string) => string, init?: RequestInit) => {
    const runId = recent[Math.floor(Math.random() * recent.length)];
    return runId === undefined ? undefined : { path: path(runId), ...(init !== undefined && { init }) };
  };
  const major2 = { headers: { 'svc-version': '2' } };

  return [
    { share: 14, deserves: [201], request: () => start('echo', { text: 'x'.repeat(200) }) },
    { share: 6, deserves: [201], request: () => start('delay', { ms: 200 }) },
    { share: 4, deserves: [201], request: () => start('fail', {}) },
    { share: 2, deserves: [201], request: () => start('burst', { events: 50 }) },
    {
      share: 4,
      deserves: [201],
      request: () => start('echo', {}, { 'idempotency-key': randomBytes(16).toString('hex') }),
    },
    { share: 20, deserves: [200], request: (recent) => some(recent, (id) => `/v1/runs/${id}`) },
    { share: 10, deserves: [200], request: (recent) => some(recent, (id) => `/runs/acme~2F${id}`, major2) },
    { share: 8, deserves: [200], request: (recent) => some(recent, (id) => `/v1/runs/${id}/events/poll?timeout=1`) },
    { share: 4, deserves: [200], request: () => ({ path: '/runs?limit=20', init: major2 }) },
    {
      share: 4,
      deserves: [200],
      request: (recent) => some(recent, (id) => `/v1/runs/${id}/cancel`, { method: 'POST' }),
    },
    { share: 4, deserves: [200], request: () => ({ path: '/.well-known/svc' }) },
    { share: 2, deserves: [200], request: () => ({ path: '/host/example/webhooks' }) },
    {
      share: 2,
      deserves: [201],
      request: () =>
        json('/v1/webhooks', { url: `${receiver}one-of-many`, events: ['run.cancelled'], tenantId: 'acme-prod' }),
    },
    { share: 4, deserves: [400], request: () => json('/v1/runs', { workflowId: 'there-is-none' }) },
    {
      share: 4,
      deserves: [400],
      request: () => ({ path: '/v1/runs', init: { method: 'POST', body: '{', headers: JSON_TYPE } }),
    },
    { share: 4, deserves: [404], request: () => ({ path: `/v1/runs/run_${randomBytes(13).toString('hex')}` }) },
    {
      share: 4,
      deserves: [401],
      request: () => ({ path: '/v1/runs/x', init: { headers: { authorization: 'Bearer no' } } }),
    },
  ];
}

const JSON_TYPE = { 'content-type': 'application/json' };

function json(
  path: string,
  body: object,
  headers: Record<string, string> = {},
  then?: PlannedRequest['then'],
): PlannedRequest {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { ...JSON_TYPE, ...headers } };
  return { path, init, ...(then !== undefined && { then }) };
}
