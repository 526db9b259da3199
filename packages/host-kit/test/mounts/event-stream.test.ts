import type { LogRecord } from '@svc/host-kit';
import { describe, expect, test } from 'vitest';
import { eventStreamReply } from '../../src/mounts/event-stream.ts';
import { yieldToLoop } from '../../src/ports/clock.ts';
import { manualClock } from '../streams/manual-clock.ts';

function opened(messages: AsyncGenerator<string, void, undefined>) {
  const clock = manualClock();
  const logged: LogRecord[] = [];
  const reply = eventStreamReply(messages, {
    clock,
    log: (record) => logged.push(record),
    gone: new AbortController().signal,
    failed: () => 'data: failed\n\n',
  });
  return { clock, logged, reply };
}

async function readerOf(reply: ReturnType<typeof opened>['reply']) {
  const { body } = await reply;
  if (!(body instanceof ReadableStream)) throw new Error('The reply is no stream.');
  const reader = body.getReader();
  return async () => {
    const { done, value } = await reader.read();
    return done ? undefined : new TextDecoder().decode(value);
  };
}

async function* failing(...before: readonly string[]): AsyncGenerator<string, void, undefined> {
  yield* before;
  throw new Error('The store is gone.');
}

describe('the event stream of a mount', () => {
  test('is not begun when its first message fails', async () => {
    await expect(opened(failing()).reply).rejects.toThrow('The store is gone.');
  });

  test('ends with the error message of its protocol and a log record when a later message fails', async () => {
    const { reply, logged } = opened(failing('data: 1\n\n'));
    const read = await readerOf(reply);
    expect([await read(), await read(), await read()]).toEqual(['data: 1\n\n', 'data: failed\n\n', undefined]);
    expect(logged).toMatchObject([{ level: 'warn', event: 'mount.stream-failed', error: 'The store is gone.' }]);
  });

  test('sends a comment after 15 s without a message', async () => {
    async function* slow(): AsyncGenerator<string, void, undefined> {
      yield 'data: 1\n\n';
      await new Promise(() => {});
    }
    const { reply, clock } = opened(slow());
    const read = await readerOf(reply);
    await read();
    const next = read();
    await yieldToLoop();
    clock.advance(15_000);
    expect(await next).toBe(':keepalive\n\n');
  });

  test.each(['ends', 'fails'])('logs nothing when its reader leaves before the awaited message %s', async (how) => {
    let settle = (): void => {};
    async function* waiting(): AsyncGenerator<string, void, undefined> {
      yield 'data: 1\n\n';
      await new Promise<void>((resolve, reject) => {
        settle = () => (how === 'ends' ? resolve() : reject(new Error('The store is gone.')));
      });
    }
    const { reply, logged } = opened(waiting());
    const { body } = await reply;
    if (!(body instanceof ReadableStream)) throw new Error('The reply is no stream.');
    const reader = body.getReader();
    await reader.read();
    const next = reader.read();
    await yieldToLoop();
    await reader.cancel();
    settle();
    expect(await next).toMatchObject({ done: true });
    await yieldToLoop();
    expect(logged).toEqual([]);
  });

  test('is cut off when its reader takes nothing for 30 s', async () => {
    async function* endless(): AsyncGenerator<string, void, undefined> {
      for (;;) yield 'data: 1\n\n';
    }
    const { reply, clock, logged } = opened(endless());
    const read = await readerOf(reply);
    await read();
    await yieldToLoop();
    clock.advance(30_000);
    await expect(read()).rejects.toThrow('took nothing');
    expect(logged).toMatchObject([{ event: 'mount.stream-stalled' }]);
  });
});
