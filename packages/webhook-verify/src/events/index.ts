import { EVENT_NAMES_V1 } from './names-v1.ts';
import { EVENT_NAMES_V2 } from './names-v2.ts';

export type { EventPayloads } from './payloads.ts';

/** Event type names of major 1. */
export type EventTypeV1 = (typeof EVENT_NAMES_V1)[number];
/** Event type names of major 2. */
export type EventTypeV2 = (typeof EVENT_NAMES_V2)[number];

export const EVENT_TYPES_V1: ReadonlySet<string> = new Set<EventTypeV1>(EVENT_NAMES_V1);
export const EVENT_TYPES_V2: ReadonlySet<string> = new Set<EventTypeV2>(EVENT_NAMES_V2);

export function isEventTypeV1(name: string): name is EventTypeV1 {
  return EVENT_TYPES_V1.has(name);
}

export function isEventTypeV2(name: string): name is EventTypeV2 {
  return EVENT_TYPES_V2.has(name);
}
