import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, KEY, READER, startAcme } from './acme-host.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({});
});
afterAll(() => host.stop());

const say = (body: object, key?: string) =>
  host.call('/host/example/chat', { body, ...(key !== undefined && { key }) });

describe('POST /host/<org>/chat', () => {
  test('starts one run for each message and returns its reply', async () => {
    const first = await say({ message: 'hello' });
    expect(first).toMatchObject({ status: 200, body: { status: 'completed', reply: 'hello' } });
    const { conversationId, runId } = first.body;
    expect(conversationId).toMatch(/^cnv_/);
    expect((await host.call(`/v1/runs/${runId}`)).body).toMatchObject({ metadata: { chat: { conversationId } } });

    const second = await say({ message: 'again', conversationId });
    expect(second.body).toMatchObject({ conversationId, reply: 'again' });
    expect(second.body.runId).not.toBe(runId);
  });

  test('gives the run the earlier turns of the conversation, also after a crash of the host', async () => {
    const { conversationId } = (await host.killAfter(() => say({ message: 'one' }))).body;
    const { runId } = (await say({ message: 'two', conversationId })).body;
    const { events } = (await host.call(`/v1/runs/${runId}/events/poll`)).body;
    expect(events.at(-1)).toMatchObject({
      type: 'run.completed',
      payload: {
        outputs: {
          history: [
            { role: 'user', content: 'one' },
            { role: 'assistant', content: 'one' },
          ],
        },
      },
    });
  });

  test(`${covers('operations.host.chat-once')} and after a crash of the host`, async () => {
    const headers = { 'idempotency-key': 'a7d1c1d0-9d4e-4f0e-8a3b-5f4f6c0b9d21' };
    const once = () => host.call('/host/example/chat', { body: { message: 'once' }, headers });
    const first = await host.killAfter(once);
    const second = await once();
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('svc-idempotent-replay')).toBe('true');
  });

  test('is streamed to a client that asks for events, which can resume', async () => {
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${KEY}` };
    const posted = await fetch(`${host.url()}/host/example/chat`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'streamed' }),
    });
    const text = await posted.text();
    expect(text).toMatch(/^event: turn\ndata: /);
    const [, id, data = ''] = /id: (\d+)\nevent: reply\ndata: (.*)\n\n$/.exec(text) ?? [];
    const { runId, reply } = JSON.parse(data);
    expect(reply).toBe('streamed');
    const resume = (after: number) =>
      fetch(`${host.url()}/host/example/chat/${runId}`, { headers: { ...headers, 'last-event-id': String(after) } });
    expect(await (await resume(Number(id) - 1)).text()).toContain('event: reply');
    expect((await resume(Number(id))).status).toBe(204);
  });

  test.each([{}, { message: '' }, { message: 1 }, { message: 'x', conversationId: 'a/b' }, { message: 'x', more: 1 }])(
    'rejects %j',
    async (body) => expect(await say(body)).toMatchObject({ status: 400, body: { error: 'validation_error' } }),
  );

  test('requires the scope runs:create', async () => {
    expect(await say({ message: 'hello' }, READER)).toMatchObject({ status: 403 });
  });
});
