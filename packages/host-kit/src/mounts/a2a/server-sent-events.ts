import { KEEP_ALIVE } from '../../http/event-stream.ts';
import { type Clock, within } from '../../ports/clock.ts';

/**
 * Writes responses as an event stream, at the pace of its reader. Sends a comment after every 15 s without a response:
 * without it a proxy would close the idle connection.
 */
export function serverSentEvents(
  responses: AsyncGenerator<unknown, void, undefined>,
  { clock, gone }: { readonly clock: Clock; readonly gone: AbortSignal },
): ReadableStream<Uint8Array> {
  let next: Promise<IteratorResult<unknown, void>> | undefined;

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= responses.next();
        if (!(await within(clock, KEEP_ALIVE_MS, next))) return controller.enqueue(KEEP_ALIVE);
        const { done, value } = await next;
        next = undefined;
        if (done === true || gone.aborted) return controller.close();
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`));
      },
      async cancel() {
        await responses.return();
      },
    },
    { highWaterMark: 0 },
  );
}

const KEEP_ALIVE_MS = 15_000;
const encoder = new TextEncoder();
