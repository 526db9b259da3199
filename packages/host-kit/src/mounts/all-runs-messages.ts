import type { Major } from '@svc/versioning';
import { eventName } from '@svc/versioning/events';
import { messageText } from '../http/event-stream.ts';
import type { EventPosition } from '../ports/events.ts';
import type { ReachedEvent } from '../streams/all-runs-reader.ts';
import { eventBody } from '../wire/event.ts';
import { positionText } from '../wire/event-position.ts';

/** The messages of events, with their positions as ids. */
export function messagesOf(major: Major, events: readonly ReachedEvent[]): Uint8Array {
  const messages = events.map(({ position, run, event }) =>
    messageText({
      id: positionText(position),
      event: eventName(major, event.type),
      data: JSON.stringify(eventBody(major, run, event)),
    }),
  );
  return encoder.encode(messages.join(''));
}

/** A comment with the position up to which the stream has come, from which a reader that reconnects continues. */
export function keepAliveAt(position: EventPosition): Uint8Array {
  return encoder.encode(`:keepalive\nid: ${positionText(position)}\n\n`);
}

const encoder = new TextEncoder();
