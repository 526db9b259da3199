import { createClient as clientOfHost } from '../hey/host/client/index.js';
import * as host from '../hey/host/sdk.gen.js';
import { createClient as client1 } from '../hey/v1/client/index.js';
import * as v1 from '../hey/v1/sdk.gen.js';
import { createClient as client2 } from '../hey/v2/client/index.js';
import * as v2 from '../hey/v2/sdk.gen.js';
import { type Statuses, sent, type Target } from './target.js';

/** The statuses of calls, and the types of the events of a stream. */
interface Called {
  readonly statuses: Statuses;
  readonly types: readonly string[];
}

const inputs = { text: 'hello', list: [1, { deep: true }], nothing: null };

/** Calls operations of major 1, and reads the log of a run as a stream. */
export async function callMajor1({ url, key }: Target): Promise<Called> {
  const client = client1({ baseUrl: url, headers: { authorization: `Bearer ${key}` } });
  const created = await v1.createRun({ client, body: { workflowId: 'echo', inputs, metadata: { team: 'a' } } });
  const { runId } = sent(created.data, 'run');
  const { stream } = await v1.streamEvents({ client, path: { runId }, query: { streamMode: 'debug' } });
  const types: string[] = [];
  for await (const event of stream) types.push(typeOf(event));
  const polled = await v1.pollEvents({ client, path: { runId } });
  const discovery = await v1.discovery({ client });
  const statuses = {
    createRun: created.response?.status,
    pollEvents: polled.response?.status,
    discovery: discovery.response?.status,
  };
  return { statuses, types };
}

/** Calls operations of major 2. The client sends `SVC-Version` by itself, with every request. */
export async function callMajor2({ url, key }: Target): Promise<Called> {
  const client = client2({ baseUrl: url, headers: { authorization: `Bearer ${key}`, 'SVC-Version': '2' } });
  const created = await v2.createRun({
    client,
    body: { workflowId: 'echo', inputs, configurable: { version: 1, extensions: { 'acme.model': { name: 'x' } } } },
  });
  const { runId } = sent(created.data, 'run');
  if (!runId.startsWith('acme/')) throw new Error('The run was created under major 1.');
  const { stream } = await v2.streamEvents({ client, path: { runId } });
  const types: string[] = [];
  for await (const event of stream) types.push(typeOf(event));
  const listed = await v2.listRuns({ client, query: { limit: 1 } });
  return { statuses: { createRun: created.response?.status, listRuns: listed.response?.status }, types };
}

/** Calls operations of the mounts. */
export async function callHost({ url, key }: Target): Promise<Statuses> {
  const client = clientOfHost({ baseUrl: url, headers: { authorization: `Bearer ${key}` } });
  const status = await host.readHostStatus({ client });
  const webhooks = await host.listOperatorWebhooks({ client, query: { limit: 5 } });
  const chat = await host.sendChatMessage({ client, body: { message: 'hello' } });
  return {
    readHostStatus: status.response?.status,
    listOperatorWebhooks: webhooks.response?.status,
    sendChatMessage: chat.response?.status,
  };
}

/** The type of an event. The streams are typed: a name that is no member of any message would not compile. */
function typeOf(event: Streamed<typeof v1.streamEvents> | Streamed<typeof v2.streamEvents>): string {
  return event && 'schemaVersion' in event && 'type' in event ? String(event.type) : '';
}

type Streamed<Call extends (...args: never[]) => Promise<{ stream: unknown }>> =
  Awaited<ReturnType<Call>>['stream'] extends AsyncGenerator<infer Event> ? Event : never;
