import { textOf } from './body.ts';
import { WebhookVerificationError } from './errors.ts';
import type { EventPayloads } from './events/payloads.ts';
import type { DeliveryHeaders } from './headers.ts';

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

export type KnownEvent = {
  readonly [Type in keyof EventPayloads]: EventEnvelope & {
    readonly type: Type;
    readonly payload: EventPayloads[Type];
  };
}[keyof EventPayloads];

/** An event whose payload this version does not describe. */
export interface UnknownEvent extends EventEnvelope {
  readonly type: string & { readonly unknownEventType?: never };
  readonly payload: unknown;
}

/**
 * Reads a verified body.
 *
 * @throws {WebhookVerificationError} `malformed_body`, `event_type_mismatch`
 */
export function parseDelivery(body: Uint8Array | string, headers: DeliveryHeaders, timestamp: number): Delivery {
  const envelope = record(json(body), 'the body is not a JSON object');
  const event = record(envelope.event, 'event is not an object');
  const runId = text(envelope.runId, 'runId');
  const workspaceId = envelope.workspaceId;
  if (workspaceId !== undefined) text(workspaceId, 'workspaceId');
  const type = text(event.type, 'event.type');
  if (text(event.runId, 'event.runId') !== runId) throw malformed('event.runId is not the runId of the delivery');
  text(event.timestamp, 'event.timestamp');
  if (!Number.isSafeInteger(event.sequence)) throw malformed('event.sequence is not an integer');
  if (!('payload' in event)) throw malformed('event.payload is missing');
  if (type !== headers.eventType) throw new WebhookVerificationError('event_type_mismatch', undefined);
  return {
    webhookId: headers.webhookId,
    eventType: type,
    timestamp,
    runId,
    ...(typeof workspaceId === 'string' && { workspaceId }),
    event: verified(event),
  };
}

function json(body: Uint8Array | string): unknown {
  const source = textOf(body);
  if (source === undefined) throw malformed('the body is not UTF-8');
  try {
    return JSON.parse(source);
  } catch {
    throw malformed('the body is not JSON');
  }
}

function record(value: unknown, problem: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(problem);
  return Object.fromEntries(Object.entries(value));
}

function text(value: unknown, name: string): string {
  if (typeof value !== 'string' || value === '') throw malformed(`${name} is not a non-empty string`);
  return value;
}

/**
 * The members that the envelope promises were checked above. The payload's shape is the sender's promise for the type; it is
 * typed, not validated, so that a newer sender's extra members pass.
 */
function verified(event: Readonly<Record<string, unknown>>): WebhookEvent {
  return event as unknown as WebhookEvent;
}

function malformed(problem: string): WebhookVerificationError {
  return new WebhookVerificationError('malformed_body', { problem });
}
