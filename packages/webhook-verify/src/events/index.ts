import { EVENT_NAMES_V1, type EventTypeV1 } from './names-v1.ts';
import { EVENT_NAMES_V2, type EventTypeV2 } from './names-v2.ts';

export type { EventTypeV1 } from './names-v1.ts';
export type { EventTypeV2 } from './names-v2.ts';
export type { EventPayloads } from './payloads.ts';

export const EVENT_TYPES_V1: ReadonlySet<string> = new Set<EventTypeV1>(EVENT_NAMES_V1);
export const EVENT_TYPES_V2: ReadonlySet<string> = new Set<EventTypeV2>(EVENT_NAMES_V2);

export function isEventTypeV1(name: string): name is EventTypeV1 {
  return EVENT_TYPES_V1.has(name);
}

export function isEventTypeV2(name: string): name is EventTypeV2 {
  return EVENT_TYPES_V2.has(name);
}
