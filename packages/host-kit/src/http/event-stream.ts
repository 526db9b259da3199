/** One message of an event stream. @see WHATWG HTML, server-sent events */
export interface Message {
  /** Sent back as `Last-Event-ID` by a reader that resumes. Absent: the reader keeps the id before it. */
  readonly id?: number | string;
  readonly event: string;
  /** JSON: without a line break. */
  readonly data: string;
}

export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Asks proxies not to buffer this answer.
  'x-accel-buffering': 'no',
};

/** A comment. Readers ignore it, and proxies see that the connection is in use. */
export const KEEP_ALIVE: Uint8Array = new TextEncoder().encode(':keepalive\n\n');

/**
 * Tells a reader whose stream ends before its run when to come back, in ms: another host, or the next process, is there by
 * then. It is no message.
 */
export const COME_BACK: Uint8Array = new TextEncoder().encode('retry: 1000\n\n');

/** The text of a message. Line breaks in the event name become spaces. */
export function messageText({ id, event, data }: Message): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event.replace(/[\r\n]/g, ' ')}\ndata: ${data}\n\n`;
}

/**
 * Whether an `Accept` accepts an event stream. Without the header every media type is accepted.
 *
 * @see RFC 9110, section 12.5.1
 */
export function takesEventStream(accept: string | null): boolean {
  return accept === null || accepts(accept, ['text/event-stream', 'text/*', '*/*']);
}

/** Whether an `Accept` names an event stream, and not only a range that includes it. */
export function asksForEventStream(accept: string | null): boolean {
  return accept !== null && accepts(accept, ['text/event-stream']);
}

function accepts(accept: string, ranges: readonly string[]): boolean {
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const isRefused = parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter));
    return !isRefused && ranges.includes(type);
  });
}
