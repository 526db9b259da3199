import { textOf } from './body.ts';
import { WebhookVerificationError } from './errors.ts';
import type { EventTypeV1 } from './events/names-v1.ts';
import type { EventTypeV2 } from './events/names-v2.ts';
import type { EventPayloads } from './events/payloads.ts';

/**
 * A delivery whose signature was verified. All of it but `webhookId` comes from signed bytes.
 *
 * @see Interface: Webhook delivery body
 */
export interface Delivery {
  /** The subscription's id, from the header; not covered by the signature. */
  readonly webhookId: string;
  readonly eventType: string;
  /** Unix seconds at signing. */
  readonly timestamp: number;
  readonly runId: string;
  readonly workspaceId?: string;
  readonly event: WebhookEvent;
}

/** A run event. Narrow on `type` for the payloads of the known types; types of later versions pass through. */
export type WebhookEvent = KnownEvent | UnknownEvent;

export interface EventEnvelope {
  readonly runId: string;
  readonly sequence: number;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly eventId?: string;
  readonly schemaVersion?: number;
  readonly engineVersion?: number | string;
  readonly nodeId?: string;
  readonly causationId?: string;
}

/** One member a type, of both vocabularies. A type without a payload of its own in `EventPayloads` has an open one. */
export type KnownEvent = {
  readonly [Type in EventTypeV1 | EventTypeV2]: EventEnvelope & {
    readonly type: Type;
    readonly payload: Type extends keyof EventPayloads ? EventPayloads[Type] : Readonly<Record<string, unknown>>;
  };
}[EventTypeV1 | EventTypeV2];

/** An event of a later version, or a vendor's. */
export interface UnknownEvent extends EventEnvelope {
  readonly type: UnknownEventType;
  readonly payload: unknown;
}

/**
 * Any text that is no known type. It reads as a string; being an enum, it is nothing that a known type could be, so comparing `type`
 * with a known one leaves unknown events behind. There is no such object at run time.
 */
declare enum UnknownEventType {
  Any = '*',
}

/** What the headers say of a delivery's content; a type that is there must be the body's. */
export interface DeliveryClaims {
  readonly webhookId: string;
  readonly eventType: string | undefined;
}

/**
 * Reads a verified body.
 *
 * @param timestamp Unix seconds at signing
 * @throws {WebhookVerificationError} `malformed_body`, `event_type_mismatch`
 */
export function parseDelivery(body: Uint8Array | string, claims: DeliveryClaims, timestamp: number): Delivery {
  return deliveryOf(parseJson(body), claims, timestamp);
}

/** As `parseDelivery`, of what was parsed already. */
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

/** @throws {WebhookVerificationError} `malformed_body` */
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
 * The members that the envelope promises were checked above. The payload's shape is the sender's promise for the type; it is
 * typed, not validated, so that a newer sender's extra members pass.
 */
function verified(event: unknown): WebhookEvent {
  return event as WebhookEvent;
}
