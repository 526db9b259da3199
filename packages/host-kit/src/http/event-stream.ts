/** One message of an event stream. @see WHATWG HTML, server-sent events */
export interface Message {
  /** Sent back as `Last-Event-ID` by a reader that resumes. */
  readonly id: number;
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

/** The text of a message. Line breaks in the event name become spaces. */
export function messageText({ id, event, data }: Message): string {
  return `id: ${id}\nevent: ${event.replace(/[\r\n]/g, ' ')}\ndata: ${data}\n\n`;
}

/**
 * Whether an `Accept` accepts an event stream. Without the header every media type is accepted.
 *
 * @see RFC 9110, section 12.5.1
 */
export function takesEventStream(accept: string | null): boolean {
  if (accept === null) return true;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const isRefused = parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter));
    return !isRefused && ['text/event-stream', 'text/*', '*/*'].includes(type);
  });
}
