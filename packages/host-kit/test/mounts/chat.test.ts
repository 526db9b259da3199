import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type Host, type Json, type JsonObject, type WorkflowEngine } from '@svc/host-kit';
import { type ChatMountOptions, chatMount, publicChatMount } from '@svc/host-kit/mounts/chat';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { covers } from '@svc/tools/covers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/ports/clock.ts';

const KEY = 'operator-key-of-the-first-principal-0123';
const COLLEAGUE = 'operator-key-of-a-colleague-in-the-same-ws';
const ELSEWHERE = 'operator-key-of-another-workspace-0123456';
const CREATOR = 'operator-key-that-may-only-create-runs-01';

const RECORDS = [
  { id: 'key_1', key: KEY },
  { id: 'key_2', key: COLLEAGUE },
  { id: 'key_3', key: ELSEWHERE, workspaces: ['acme-dev'] },
  { id: 'key_4', key: CREATOR, scopes: ['runs:create'] },
].map(({ key, ...fields }) => ({
  ...{ tenant: 'acme', workspaces: ['acme-prod'], mode: 'live' as const },
  scopes: ['runs:create', 'runs:read'],
  ...{ hash: hashApiKey(key), principal: `p_${fields.id}` },
  ...fields,
}));

/** Replies with the message in capitals, in two chunks. `ask` asks a question, `fail` fails. */
function shouting(seen: JsonObject[]): WorkflowEngine {
  return {
    async execute({ inputs }, { append, interrupt }) {
      seen.push(inputs);
      const message = String(inputs.message).toUpperCase();
      if (message === 'FAIL') return { status: 'failed', error: { code: 'node_failed', message: 'As asked.' } };
      if (message === 'ASK') {
        const data = { questions: [{ id: 'q', question: 'Which one?' }] };
        await interrupt({ nodeId: 'ask', key: 'q', kind: 'clarification', data });
      }
      for (const chunk of [message.slice(0, 1), message.slice(1)])
        await append({ type: 'output.chunk', nodeId: 'say', payload: { nodeId: 'say', chunk } });
      return { status: 'completed', outputs: { reply: message } };
    },
  };
}

async function chatting(
  options: Partial<ChatMountOptions> = {},
  { singleTenant = false, places = 2000, clock = systemClock } = {},
) {
  const seen: JsonObject[] = [];
  const host = createHost({
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys: memoryKeyStore(RECORDS) })],
    engine: shouting(seen),
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true, singleTenant },
    http: { streams: { readerLimits: { perRun: 500, perCredential: 500, total: places } } },
    ports: { clock },
    mounts: [
      chatMount({ workflowId: 'any', ...options }),
      publicChatMount({ workflowId: 'any', tenant: 'acme', workspace: 'acme-prod', ...options }),
    ],
  });
  await host.start();
  onTestFinished(() => host.stop(0));
  const send = sender(host);
  return {
    host,
    seen,
    send,
    say: (body: object, headers: Record<string, string> = {}) => send('POST', '/host/example/chat', { body, headers }),
  };
}

interface Sent {
  readonly body?: object;
  readonly key?: string;
  readonly headers?: Record<string, string>;
}

function sender(host: Host) {
  return async (method: string, path: string, { body, key = KEY, headers = {} }: Sent = {}) => {
    const response = await host.fetch(
      new Request(`http://host.test${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
}

const EVENTS = { accept: 'text/event-stream' };

function messagesIn(text: string): { readonly id?: number; readonly event: string; readonly data: Json }[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2)));
      return {
        ...(fields.id !== undefined && { id: Number(fields.id) }),
        event: fields.event,
        data: JSON.parse(fields.data),
      };
    });
}

describe('the memory of a conversation', () => {
  test('has the earlier messages and replies of the same conversation, oldest first', async () => {
    const { say, seen } = await chatting();
    const { conversationId } = (await say({ message: 'one' })).body;
    await say({ message: 'fail', conversationId });
    await say({ message: 'of another conversation' });
    await say({ message: 'three', conversationId });
    expect(seen.at(-1)).toEqual({
      message: 'three',
      conversationId,
      history: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'ONE' },
        { role: 'user', content: 'fail' },
      ],
    });
  });

  test.each([
    [{ turns: 1 }, ['two', 'TWO']],
    [{ turns: 0 }, []],
    [{ bytes: 150 }, ['two', 'TWO']],
    [{ bytes: 10 }, []],
  ])('within %j leaves out the oldest turns', async (memory, history) => {
    const { say, seen } = await chatting({ memory });
    const { conversationId } = (await say({ message: 'o'.repeat(80) })).body;
    await say({ message: 'two', conversationId });
    await say({ message: 'three', conversationId });
    const entries = seen.at(-1)?.history;
    expect(Array.isArray(entries) && entries.map((entry) => Reflect.get(Object(entry), 'content'))).toEqual(history);
  });

  test.each([
    ['another principal of the workspace', COLLEAGUE],
    ['a principal of another workspace', ELSEWHERE],
  ])('is not shared with %s that knows the id of the conversation', async (_, key) => {
    const { say, send, seen } = await chatting();
    const { conversationId, runId } = (await say({ message: 'mine' })).body;
    await send('POST', '/host/example/chat', { body: { message: 'theirs', conversationId }, key });
    expect(seen.at(-1)).toMatchObject({ message: 'theirs', history: [] });
    expect((await send('GET', `/host/example/chat/${runId}`, { key })).status).toBeGreaterThanOrEqual(403);
    await say({ message: 'again', conversationId });
    expect(JSON.stringify(seen.at(-1))).not.toContain('theirs');
  });

  test('is in the order of the turns when the clock steps back, and within a millisecond', async () => {
    let now = Date.now();
    const { say, seen } = await chatting(
      { memory: { turns: 3, bytes: 8000 } },
      { clock: { ...systemClock, now: () => now } },
    );
    const { conversationId } = (await say({ message: '1' })).body;
    for (const message of ['2', '3']) await say({ message, conversationId });
    now -= 3_600_000;
    for (const message of ['4', '5', '6']) await say({ message, conversationId });
    expect(seen.at(-1)?.history).toMatchObject(
      ['3', '3', '4', '4', '5', '5'].map((content) => expect.objectContaining({ content })),
    );
  });

  test('does not take a run that REST created under the metadata of the conversation', async () => {
    const { say, send, seen } = await chatting();
    const { conversationId } = (await say({ message: 'one' })).body;
    const metadata = { chat: { conversationId } };
    await send('POST', '/v1/runs', { body: { workflowId: 'any', inputs: { message: 'forged' }, metadata } });
    await say({ message: 'two', conversationId });
    expect(JSON.stringify(seen.at(-1))).not.toContain('forged');
  });
});

describe('a message with an idempotency key', () => {
  const KEYED = { 'idempotency-key': 'dd9e7c1c-5a35-4c2e-9b9e-3f0f5f4b6a11' };

  test('starts one run, also when it is repeated at once and as a stream', async () => {
    const { say, seen } = await chatting();
    const [first, second] = await Promise.all([say({ message: 'one' }, KEYED), say({ message: 'one' }, KEYED)]);
    expect(second?.body).toEqual(first?.body);
    const third = await say({ message: 'one' }, { ...KEYED, ...EVENTS });
    expect(messagesIn(third.text).at(-1)).toMatchObject({ event: 'reply', data: { runId: first?.body.runId } });
    expect(third.headers.get('svc-idempotent-replay')).toBe('true');
    expect(seen).toHaveLength(1);
  });

  test('is refused with another body', async () => {
    const { say } = await chatting();
    await say({ message: 'one' }, KEYED);
    expect(await say({ message: 'two' }, KEYED)).toMatchObject({
      status: 409,
      body: { error: 'idempotency_key_mismatch' },
    });
  });

  test('gives another principal a run of its own', async () => {
    const { say, send, seen } = await chatting();
    const mine = await say({ message: 'one' }, KEYED);
    const theirs = await send('POST', '/host/example/chat', {
      body: { message: 'one' },
      key: COLLEAGUE,
      headers: KEYED,
    });
    expect(theirs.status).toBe(200);
    expect(theirs.body.runId).not.toBe(mine.body.runId);
    expect(seen).toHaveLength(2);
  });

  test('is refused when the key is malformed', async () => {
    const { say } = await chatting();
    expect(await say({ message: 'one' }, { 'idempotency-key': 'a b' })).toMatchObject({ status: 400 });
  });
});

describe('the stream of a turn', () => {
  test('has the turn, each chunk and the reply', async () => {
    const { say } = await chatting();
    const { text, headers } = await say({ message: 'hello' }, EVENTS);
    expect(headers.get('content-type')).toBe('text/event-stream');
    const messages = messagesIn(text);
    expect(messages.map(({ event, data }) => [event, Reflect.get(Object(data), 'chunk')])).toEqual([
      ['turn', undefined],
      ['delta', 'H'],
      ['delta', 'ELLO'],
      ['reply', undefined],
    ]);
    expect(messages.at(-1)?.data).toMatchObject({ status: 'completed', reply: 'HELLO' });
  });

  test('is resumed after the last received event, and answered 204 at its end', async () => {
    const { say, send } = await chatting();
    const messages = messagesIn((await say({ message: 'hello' }, EVENTS)).text);
    const path = `/host/example/chat/${Reflect.get(Object(messages[0]?.data), 'runId')}`;
    const resumed = await send('GET', path, { headers: { ...EVENTS, 'last-event-id': String(messages[1]?.id) } });
    expect(messagesIn(resumed.text).slice(1)).toEqual(messages.slice(2));
    const ended = await send('GET', path, { headers: { ...EVENTS, 'last-event-id': String(messages.at(-1)?.id) } });
    expect([ended.status, ended.text]).toEqual([204, '']);
    expect((await send('GET', path)).body).toEqual(messages.at(-1)?.data);
    expect((await send('GET', path, { headers: { ...EVENTS, 'last-event-id': 'x' } })).status).toBe(400);
  });
});

test('a turn that waits for an answer has its question', async () => {
  const { say } = await chatting();
  const { body } = await say({ message: 'ask' });
  expect(body).toMatchObject({ status: 'waiting-input', question: { kind: 'clarification' } });
});

test('a turn that failed has its error', async () => {
  const { say } = await chatting();
  expect((await say({ message: 'fail' })).body).toMatchObject({ status: 'failed', error: { message: 'As asked.' } });
});

test('a caller that cannot read runs is refused before a run is created', async () => {
  const { send, seen } = await chatting();
  const refused = await send('POST', '/host/example/chat', { body: { message: 'x' }, key: CREATOR });
  expect([refused.status, seen.length]).toEqual([403, 0]);
});

test('GET of a run that is no turn of this chat is answered 404', async () => {
  const { send } = await chatting();
  const { runId } = (await send('POST', '/v1/runs', { body: { workflowId: 'any', inputs: {} } })).body;
  for (const id of [runId, 'run_00000000000000000000000000', 'a%2Fb'])
    expect((await send('GET', `/host/example/chat/${id}`)).status).toBe(404);
});

describe(covers('runs.anonymous.kind-on-run', 'runs.anonymous.default-deny', 'runs.anonymous.id-single-use'), () => {
  const begun = async ({ send }: Awaited<ReturnType<typeof chatting>>): Promise<string> =>
    (await send('POST', '/host/example/public-chat/sessions', { key: '' })).body.session;

  test('a visitor talks within its session, and its runs belong to an anonymous principal', async () => {
    const chat = await chatting();
    const session = await begun(chat);
    const say = (body: object) => chat.send('POST', '/host/example/public-chat', { body, key: session });
    const first = await say({ message: 'one' });
    expect(first).toMatchObject({ status: 200, body: { reply: 'ONE' } });
    await say({ message: 'two', conversationId: first.body.conversationId });
    expect(chat.seen.at(-1)?.history).toHaveLength(2);
    const { body: run } = await chat.send('GET', `/v1/runs/${first.body.runId}`);
    expect(run.owner).toMatchObject({ tenant: 'acme', workspace: 'acme-prod', principalKind: 'anonymous' });
    expect(run.owner.principal).toMatch(/^anon_[0-9a-f]{32}$/);
    expect(session).not.toContain(run.owner.principal.slice('anon_'.length));
  });

  test('a visitor reaches no run of another session, of the workspace or of its own elsewhere', async () => {
    const chat = await chatting();
    const [session, other] = [await begun(chat), await begun(chat)];
    const body = { message: 'one' };
    const foreign = await chat.send('POST', '/host/example/public-chat', { body, key: other });
    const member = await chat.say(body);
    for (const { runId } of [foreign.body, member.body]) {
      const read = await chat.send('GET', `/host/example/public-chat/${runId}`, { key: session });
      expect([read.status, read.body.error]).toEqual([404, 'not_found']);
    }
    const { conversationId } = foreign.body;
    await chat.send('POST', '/host/example/public-chat', { body: { message: 'x', conversationId }, key: session });
    expect(chat.seen.at(-1)?.history).toEqual([]);
    for (const path of [`/v1/runs/${foreign.body.runId}`, '/host/example/chat/x', '/host/example/webhooks'])
      expect((await chat.send('GET', path, { key: session })).status).toBe(401);
  });

  test.each([
    ['no session', ''],
    ['a credential of the host', KEY],
    ['a made-up session', 'svcs_AAAA'],
  ])('%s is answered 401', async (_, key) => {
    const { send, seen } = await chatting();
    const refused = await send('POST', '/host/example/public-chat', { body: { message: 'x' }, key });
    expect([refused.status, refused.body.error, seen.length]).toEqual([401, 'unauthenticated', 0]);
  });

  test('visitors take half of the places of readers at most, and leave the others to callers with a credential', async () => {
    const chat = await chatting({ waitMs: 1 }, { places: 2 });
    const session = await begun(chat);
    const body = { message: 'ask' };
    const { runId } = (await chat.send('POST', '/host/example/public-chat', { body, key: session })).body;
    const headers = { ...EVENTS, authorization: `Bearer ${session}` };
    const url = `http://host.test/host/example/public-chat/${runId}`;
    const stream = await chat.host.fetch(new Request(url, { headers }));
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain('event: turn');
    expect((await reader?.read())?.value).toContain('event: question');
    // Waits for the next event, in the one place of visitors.
    void reader?.read();
    const visitor = await begun(chat);
    // The run is created, so the response names it: after an error the visitor would create it again.
    const other = await chat.send('POST', '/host/example/public-chat', { body, key: visitor });
    expect(other).toMatchObject({ status: 200, body: { runId: expect.any(String) } });
    const path = `/host/example/public-chat/${other.body.runId}`;
    const { text } = await chat.send('GET', path, { key: visitor, headers: EVENTS });
    expect(messagesIn(text).at(-1)).toMatchObject({ event: 'error', data: { error: 'rate_limited' } });
    expect(await chat.say(body)).toMatchObject({ status: 200 });
  });

  test('a host without owners of runs creates none for a visitor', async () => {
    const chat = await chatting({}, { singleTenant: true });
    const body = { message: 'one' };
    const refused = await chat.send('POST', '/host/example/public-chat', { body, key: await begun(chat) });
    expect([refused.status, chat.seen.length]).toEqual([403, 0]);
  });
});

test('sessionSeconds out of range is a TypeError', () => {
  const options = { workflowId: 'any', tenant: 'acme', workspace: 'acme-prod', sessionSeconds: 86_401 };
  const create = () =>
    createHost({
      store: memoryStore(),
      authenticate: [apiKeyLane({ keys: memoryKeyStore([]) })],
      engine: shouting([]),
      secretKey: new Uint8Array(32),
      authorization: { hasWorkspace: () => true },
      mounts: [publicChatMount(options)],
    });
  expect(create).toThrow(/^sessionSeconds: must be/);
});
