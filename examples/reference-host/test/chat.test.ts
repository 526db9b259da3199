import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, READER, startAcme } from './acme-host.ts';

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

  test.each([{}, { message: '' }, { message: 1 }, { message: 'x', conversationId: 'a/b' }, { message: 'x', more: 1 }])(
    'rejects %j',
    async (body) => expect(await say(body)).toMatchObject({ status: 400, body: { error: 'validation_error' } }),
  );

  test('requires the scope runs:create', async () => {
    expect(await say({ message: 'hello' }, READER)).toMatchObject({ status: 403 });
  });
});
