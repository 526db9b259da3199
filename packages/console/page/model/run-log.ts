import type { RunEvent } from '../data/shapes.ts';
import type { Message } from '../data/sse.ts';

/** Returns a log with the events of further messages. An event that the log has already is left out. */
export function afterMessages(log: readonly RunEvent[], messages: readonly Message[]): readonly RunEvent[] {
  const last = log.at(-1)?.sequence ?? -1;
  const further = messages.flatMap(eventsIn).filter(({ sequence }) => sequence > last);
  return further.length === 0 ? log : [...log, ...further].slice(-MOST_EVENTS);
}

/** The page is no archive: of a long log it holds the end. */
const MOST_EVENTS = 5000;

/** A message is one event, or a batch of them. */
function eventsIn({ data }: Message): RunEvent[] {
  const parsed: RunEvent | RunEvent[] = JSON.parse(data);
  return (Array.isArray(parsed) ? parsed : [parsed]).filter(
    ({ sequence, type }) => typeof sequence === 'number' && typeof type === 'string',
  );
}
