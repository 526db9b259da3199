import { KEEP_ALIVE } from '../../http/event-stream.ts';
import type { Clock } from '../../ports/clock.ts';

/**
 * Answers as an event stream. They are asked for as their reader takes them, and when there is none for a while a comment keeps whoever
 * stands between from closing the connection.
 */
export function serverSentEvents(
  answers: AsyncGenerator<unknown, void, undefined>,
  { clock, gone }: { readonly clock: Clock; readonly gone: AbortSignal },
): ReadableStream<Uint8Array> {
  let next: Promise<IteratorResult<unknown, void>> | undefined;

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= answers.next();
        const quiet = after(clock, KEEP_ALIVE_MS);
        const found = await Promise.race([next, quiet.passed]).finally(quiet.cancel);
        if (found === undefined) return controller.enqueue(KEEP_ALIVE);
        next = undefined;
        if (found.done === true || gone.aborted) return controller.close();
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(found.value)}\n\n`));
      },
      async cancel() {
        await answers.return();
      },
    },
    { highWaterMark: 0 },
  );
}

const KEEP_ALIVE_MS = 15_000;
const encoder = new TextEncoder();

function after(clock: Clock, ms: number): { readonly passed: Promise<undefined>; cancel(): void } {
  let cancel = (): void => {};
  const passed = new Promise<undefined>((resolve) => {
    cancel = clock.at(clock.now() + ms, () => resolve(undefined));
  });
  return { passed, cancel: () => cancel() };
}
