import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type HostOptions, type JsonObject, type LogRecord, type WorkflowEngine } from '@svc/host-kit';
import { toNodeListener } from '@svc/host-kit/node';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { asDescribed } from '@svc/tools/as-described';
import { mintId } from '@svc/versioning/ids';
import { EVENT_TYPES } from '../../src/events/event-types.ts';
import { systemRandom } from '../../src/ports/random.ts';
import { sampleRun } from '../../src/testing/store-contract/samples.ts';

const send = asDescribed(fetch);

export const KEY = 'operator-key-of-this-test-0123456789';
export const OTHER_TENANT = 'operator-key-of-another-tenant-012345';
export const OTHER_WORKSPACE = 'operator-key-of-another-workspace-012';

/** An engine whose runs do nothing by themselves: the test appends their events. */
const engine: WorkflowEngine = {
  execute: (_run, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
};

const SCOPES = ['runs:create', 'runs:read'];
const RECORDS = [
  { id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['acme-prod'] },
  { id: 'key_2', key: OTHER_TENANT, tenant: 'umbrella', workspaces: 'all' as const },
  { id: 'key_3', key: OTHER_WORKSPACE, tenant: 'acme', workspaces: ['acme-dev'] },
].map(({ key, ...fields }) => ({
  ...fields,
  hash: hashApiKey(key),
  principal: `p_${fields.id}`,
  scopes: SCOPES,
  mode: 'live' as const,
}));

export type Serving = Awaited<ReturnType<typeof serve>>;

/** Starts a host over real HTTP. */
export async function serve(options: Partial<HostOptions> = {}) {
  const logged: LogRecord[] = [];
  const { store = memoryStore() } = options;
  const host = createHost({
    store,
    authenticate: [apiKeyLane({ keys: memoryKeyStore(RECORDS) })],
    engine,
    secretKey: new Uint8Array(32),
    ...options,
    authorization: { hasWorkspace: () => true, ...options.authorization },
    ports: { log: (record) => logged.push(record), ...options.ports },
  });
  await host.start();
  const server = createServer(toNodeListener(host));
  // By default an idle connection is closed after 5 s: on a slow machine a request could meet the end of the one it
  // reuses.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  return {
    host,
    server,
    url,
    logged,
    /** Inserts a run without events that the host does not drive. */
    async newRun(): Promise<string> {
      const runId = mintId('run', Date.now, systemRandom);
      const owner = { tenant: 'acme', workspace: 'acme-prod', principal: 'p_key_1' };
      const run = sampleRun({ runId, workspace: 'acme-prod', owner, workflowId: 'any' });
      await store.transaction((transaction) => store.runs.insert(run, transaction));
      return runId;
    },
    /** Appends one event of each type. */
    async append(runId: string, ...types: readonly string[]): Promise<void> {
      for (const type of types) {
        const payload = PAYLOADS[type] ?? EVENT_TYPES.get(type)?.example ?? {};
        await host.events.append(runId, { type, payload });
      }
    },
    open: (path: string, headers: Record<string, string> = {}) => open(url + path, headers),
    async json(path: string, headers: Record<string, string> = {}) {
      const response = await send(url + path, { headers: { authorization: `Bearer ${KEY}`, ...headers } });
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await host.stop(100);
    },
  };
}

const QUESTION = {
  nodeId: 'n',
  interruptId: 'int_01k0p3v7kd2m4s6q8x0z1b3n5r',
  kind: 'approval',
  key: 'k',
  data: {},
  requestedAt: 0,
};

/** Payloads as the kit stores them. The other types have their examples. */
const PAYLOADS: Readonly<Record<string, JsonObject>> = {
  'run.started': { workflowId: 'any' },
  'output.chunk': { nodeId: 'n', chunk: 'text' },
  'node.suspended': { nodeId: 'n', interruptId: 'int_01k0p3v7kd2m4s6q8x0z1b3n5r' },
  'interrupt.requested': QUESTION,
  'interrupt.resolved': { nodeId: 'n', interruptId: 'int_01k0p3v7kd2m4s6q8x0z1b3n5r' },
  'node.resumed': { nodeId: 'n', interruptId: 'int_01k0p3v7kd2m4s6q8x0z1b3n5r' },
  'approval.requested': QUESTION,
};

/** A message of an event stream. */
export interface Message {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: unknown;
}

/** An open stream, as its reader sees it. */
export interface Stream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** The messages received so far. */
  readonly messages: readonly Message[];
  /** The comment lines received so far, which are the keep-alives. */
  readonly comments: readonly string[];
  /** Resolves at the end: `ended` by the host, or `cut` off. */
  readonly ended: Promise<'ended' | 'cut'>;
  /** The whole text received so far, for an answer that is no stream. */
  text(): string;
  /** Resolves when this many messages have come. */
  count(messages: number): Promise<void>;
  pause(): void;
  resume(): void;
  /** Closes the connection. */
  leave(): void;
}

export function open(url: string, headers: Record<string, string> = {}): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: { authorization: `Bearer ${KEY}`, ...headers } }, (response) => {
      const messages: Message[] = [];
      const comments: string[] = [];
      let rest = '';
      let all = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        all += text;
        const blocks = (rest + text).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) {
          if (block.startsWith(':')) comments.push(block);
          else if (!block.startsWith('retry: ')) messages.push(messageOf(block));
        }
      });
      const ended = new Promise<'ended' | 'cut'>((done) => {
        response.on('end', () => done('ended')).on('error', () => done('cut'));
      });
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        messages,
        comments,
        ended,
        text: () => all,
        async count(wanted) {
          await eventually(() => messages.length >= wanted);
        },
        pause: () => response.pause(),
        resume: () => response.resume(),
        leave: () => request.destroy(),
      });
    });
    request.on('error', reject);
  });
}

function messageOf(block: string): Message {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2)));
  return { id: fields.id, event: fields.event, data: JSON.parse(fields.data ?? 'null') };
}

/**
 * Resolves when the condition holds. Fails after 25 s, shortly before the time limit of a test: a slow machine may need
 * that long.
 */
export async function eventually(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('The condition did not hold within 60 s.');
}
