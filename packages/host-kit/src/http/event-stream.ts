/** One message of an event stream. @see WHATWG HTML, server-sent events */
export interface Message {
  /** What a reader who resumes sends as `Last-Event-ID`. */
  readonly id: number;
  readonly event: string;
  /** JSON: without a line break. */
  readonly data: string;
}

export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Proxies that hold answers back until they have a bufferful are asked to let this one through.
  'x-accel-buffering': 'no',
};

/** A line that readers skip, and that keeps whoever stands between from closing the connection. */
export const KEEP_ALIVE: Uint8Array = new TextEncoder().encode(':keepalive\n\n');

/** A message as it is written. Whatever a name holds, it stays one line. */
export function messageText({ id, event, data }: Message): string {
  return `id: ${id}\nevent: ${event.replace(/[\r\n]/g, ' ')}\ndata: ${data}\n\n`;
}

/** Whether a reader takes an event stream. Without an `Accept` it takes anything. @see RFC 9110, section 12.5.1 */
export function takesEventStream(accept: string | null): boolean {
  if (accept === null) return true;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const isRefused = parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter));
    return !isRefused && ['text/event-stream', 'text/*', '*/*'].includes(type);
  });
}
