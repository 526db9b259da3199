import { textOf } from './body.ts';
import { WebhookVerificationError } from './errors.ts';
import type { EventTypeV1, EventTypeV2 } from './events/names.ts';
import type { EventPayloads } from './events/payloads.ts';

/**
 * A verified delivery. Every field except `webhookId` comes from signed bytes.
 *
 * @see Interface: Webhook delivery body
 */
export interface Delivery {
  /** The id of the subscription, from the header. The signature does not cover it. */
  readonly webhookId: string;
  /** The type of the event, the same as `event.type`. */
  readonly eventType: string;
  /** The time of signing in Unix seconds. */
  readonly timestamp: number;
  /** The id of the run. */
  readonly runId: string;
  /** The workspace of the run, when it has one. */
  readonly workspaceId?: string | undefined;
  /** The event of the run, as the host has stored it. */
  readonly event: WebhookEvent;
}

/** A run event. Narrow on `type` for the payloads of the known types; types of later versions pass through. */
export type WebhookEvent = KnownEvent | UnknownEvent;

/** The fields that every run event has. */
export interface EventEnvelope {
  /** The id of the run. */
  readonly runId: string;
  /** The position of the event in the log of its run. */
  readonly sequence: number;
  /** The time of the event, as RFC 3339. */
  readonly timestamp: string;
  /** The id of the event. */
  readonly eventId?: string;
  /** The version of the schema of the event. */
  readonly schemaVersion?: number;
  /** The version of the engine that made the event. */
  readonly engineVersion?: number | string;
  /** The id of the node that the event is about. */
  readonly nodeId?: string;
  /** The id of the event or delivery that caused this event. */
  readonly causationId?: string;
}

/** An event of a known type, of either major. A type that `EventPayloads` does not list has an open payload. */
export type KnownEvent = {
  readonly [Type in EventTypeV1 | EventTypeV2]: EventEnvelope & {
    /** The type of the event; compare it to narrow `payload`. */
    readonly type: Type;
    /** The payload of the type. It is typed, but not validated. */
    readonly payload: Type extends keyof EventPayloads ? EventPayloads[Type] : Readonly<Record<string, unknown>>;
  };
}[EventTypeV1 | EventTypeV2];

/** An event of a later version, or of a vendor. */
export interface UnknownEvent extends EventEnvelope {
  /** The type of the event: a string at run time. */
  readonly type: UnknownEventType;
  /** The payload, of unknown shape. */
  readonly payload: unknown;
}

/**
 * The type of an unknown event: a string that equals no known type. It is an enum so that a comparison of `type` with a
 * known type excludes unknown events; there is no such object at run time.
 */
export declare enum UnknownEventType {
  Any = '*',
}

/** The claims of the headers about a delivery. An event type, when present, must equal the type in the body. */
export interface DeliveryClaims {
  /** The id of the subscription. */
  readonly webhookId: string;
  /** The type of the event. */
  readonly eventType: string | undefined;
}

/**
 * Parses a verified body.
 *
 * @param timestamp the time of signing in Unix seconds
 * @throws {WebhookVerificationError} `malformed_body`, `event_type_mismatch`
 */
export function parseDelivery(body: Uint8Array | string, claims: DeliveryClaims, timestamp: number): Delivery {
  return deliveryOf(parseJson(body), claims, timestamp);
}

/** Does the same as `parseDelivery`, for parsed JSON. */
export function deliveryOf(content: unknown, claims: DeliveryClaims, timestamp: number): Delivery {
  const { runId, workspaceId, event } = record(content, 'the body is not a JSON object');
  const { type, runId: eventRunId, timestamp: at, sequence, payload } = record(event, 'event is not an object');
  if (!isText(runId)) throw notText('runId');
  if (workspaceId !== undefined && !isText(workspaceId)) throw notText('workspaceId');
  if (!isText(type)) throw notText('event.type');
  if (eventRunId !== runId) throw malformedBody('event.runId is not the runId of the delivery');
  if (!isText(at)) throw notText('event.timestamp');
  if (!Number.isSafeInteger(sequence)) throw malformedBody('event.sequence is not an integer');
  if (payload === undefined) throw malformedBody('event.payload is missing');
  if (claims.eventType !== undefined && type !== claims.eventType) {
    throw new WebhookVerificationError('event_type_mismatch', undefined);
  }
  const delivery = { webhookId: claims.webhookId, eventType: type, timestamp, runId, event: verified(event) };
  return workspaceId === undefined ? delivery : { ...delivery, workspaceId };
}

/** Parses JSON. @throws {WebhookVerificationError} `malformed_body` */
export function parseJson(body: Uint8Array | string): unknown {
  const source = textOf(body);
  if (source === undefined) throw malformedBody('the body is not UTF-8');
  try {
    return JSON.parse(source);
  } catch {
    throw malformedBody('the body is not JSON');
  }
}

export function malformedBody(problem: string): WebhookVerificationError {
  return new WebhookVerificationError('malformed_body', { problem });
}

function record(value: unknown, problem: string): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw malformedBody(problem);
  return value;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function notText(name: string): WebhookVerificationError {
  return malformedBody(`${name} is not a non-empty string`);
}

/**
 * Types an event whose envelope `deliveryOf` has checked. The payload is typed, but not validated, so that additional
 * members of a newer sender pass.
 */
function verified(event: unknown): WebhookEvent {
  return event as WebhookEvent;
}
