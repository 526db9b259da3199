import { createHash } from 'node:crypto';
import { Webhook, WebhookVerificationError } from '@svc/webhook-verify';
import { StandardWebhook, VERIFICATION_TYPE } from '@svc/webhook-verify/standard-webhooks';
import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import type { WebhookPreset, WebhookSource } from '../../ports/triggers.ts';
import { requiredHeader, requireFreshTime, requireHmac } from './signed-headers.ts';

/** A request of a sender, and the time and the parser by which it is judged. */
export interface SentWebhook {
  readonly headers: Headers;
  /** The body as received. */
  readonly body: Uint8Array;
  /** The time in ms since the epoch. */
  readonly now: number;
  /** Parses the body, once its signature is verified. */
  readonly parse: (body: Uint8Array) => Json;
}

/** An authentic request: a message, or a challenge with its answer. */
export type AuthenticWebhook =
  | {
      readonly kind: 'message';
      readonly body: Json;
      /** The type of the message. Undefined: it has none. */
      readonly type: string | undefined;
      /** The parts of the key for deduplication. */
      readonly key: readonly string[];
    }
  | { readonly kind: 'challenge'; readonly answer: JsonObject };

type Preset = (secrets: readonly string[], sent: SentWebhook, source: WebhookSource) => AuthenticWebhook;

/**
 * The verification of each preset. Each verifies the signature before it parses the body. The key for deduplication comes
 * from signed bytes where the sender signs an id, and is a digest of the signed body otherwise: an attacker who captures a
 * message could send it again under another id in a header.
 */
export const PRESETS: Readonly<Record<WebhookPreset, Preset>> = {
  svc(secrets, { headers, body, now, parse }) {
    const signed = new Webhook(secrets, { now: () => now }).verifySignature(body, headers);
    const content = parse(body);
    const { eventType, runId, event } = signed.read();
    return { kind: 'message', body: content, type: eventType, key: [runId, String(event.sequence)] };
  },
  'standard-webhooks'(secrets, { headers, body, now, parse }) {
    const { id } = new StandardWebhook(secrets, { now: () => now }).verifySignature(body, headers);
    const content = parse(body);
    const type = textIn(content, 'type');
    const challenge = textIn(content, 'challenge');
    if (type === VERIFICATION_TYPE && challenge !== undefined) return { kind: 'challenge', answer: { challenge } };
    return { kind: 'message', body: content, type, key: [id] };
  },
  github(secrets, { headers, body, parse }) {
    const [, digest = ''] = /^sha256=(.*)$/.exec(requiredHeader(headers, 'x-hub-signature-256')) ?? [];
    requireHmac(secrets, { algorithm: 'sha256', encoding: 'hex', signatures: [digest], parts: [body] });
    return { kind: 'message', body: parse(body), type: typeIn(headers, 'x-github-event'), key: [digestOf(body)] };
  },
  stripe(secrets, { headers, body, now, parse }) {
    const pairs = requiredHeader(headers, 'stripe-signature').split(',');
    const valuesOf = (name: string) =>
      pairs.flatMap((pair) => (pair.trimStart().startsWith(`${name}=`) ? [pair.trim().slice(name.length + 1)] : []));
    const [time = '', ...others] = valuesOf('t');
    if (others.length > 0) throw new WebhookVerificationError('repeated_header', { header: 'stripe-signature' });
    requireFreshTime(time, now);
    const parts = [`${time}.`, body];
    requireHmac(secrets, { algorithm: 'sha256', encoding: 'hex', signatures: valuesOf('v1'), parts });
    const content = parse(body);
    return {
      kind: 'message',
      body: content,
      type: textIn(content, 'type'),
      key: [textIn(content, 'id') ?? digestOf(body)],
    };
  },
  slack(secrets, { headers, body, now, parse }) {
    const time = requiredHeader(headers, 'x-slack-request-timestamp');
    requireFreshTime(time, now);
    const [, digest = ''] = /^v0=(.*)$/.exec(requiredHeader(headers, 'x-slack-signature')) ?? [];
    const parts = [`v0:${time}:`, body];
    requireHmac(secrets, { algorithm: 'sha256', encoding: 'hex', signatures: [digest], parts });
    const content = parse(body);
    const challenge = textIn(content, 'challenge');
    const type = textIn(content, 'type');
    if (type === 'url_verification' && challenge !== undefined) return { kind: 'challenge', answer: { challenge } };
    const event = isJsonObject(content) ? content.event : undefined;
    const key = textIn(content, 'event_id') ?? digestOf(body);
    return { kind: 'message', body: content, type: textIn(event, 'type') ?? type, key: [key] };
  },
  shopify(secrets, { headers, body, parse }, { types = [] }) {
    const digest = requiredHeader(headers, 'x-shopify-hmac-sha256');
    requireHmac(secrets, { algorithm: 'sha256', encoding: 'base64', signatures: [digest], parts: [body] });
    const type = typeIn(headers, 'x-shopify-topic');
    // One change of an order is sent under several topics with one body. The topic is not signed: only one that the trigger
    // names counts, so a captured message starts at most one run for each of them.
    const topic = type !== undefined && types.includes(type) ? type : '';
    return { kind: 'message', body: parse(body), type, key: [topic, digestOf(body)] };
  },
  hmac(secrets, { headers, body, now, parse }, { signature }) {
    if (signature === undefined) throw new Error('A trigger with the preset hmac has no rules of its signature.');
    const { header, algorithm, encoding, prefix, timestampHeader } = signature;
    const claimed = requiredHeader(headers, header);
    if (!claimed.startsWith(prefix)) throw new WebhookVerificationError('malformed_signature', undefined);
    const time = timestampHeader === undefined ? undefined : requiredHeader(headers, timestampHeader);
    if (time !== undefined) requireFreshTime(time, now);
    const parts = time === undefined ? [body] : [`${time}.`, body];
    requireHmac(secrets, { algorithm, encoding, signatures: [claimed.slice(prefix.length)], parts });
    const content = parse(body);
    return { kind: 'message', body: content, type: textIn(content, 'type'), key: [digestOf(body)] };
  },
};

/** The types that senders sign nothing about. They are words, so that a header cannot bring other text into a run. */
function typeIn(headers: Headers, header: string): string | undefined {
  const value = headers.get(header) ?? '';
  return /^[A-Za-z0-9][A-Za-z0-9._/:-]{0,127}$/.test(value) ? value : undefined;
}

function textIn(content: Json | undefined, name: string): string | undefined {
  const value = isJsonObject(content) && Object.hasOwn(content, name) ? content[name] : undefined;
  return typeof value === 'string' && value.length > 0 && value.length <= 1024 ? value : undefined;
}

function digestOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64url');
}

/**
 * Verifies a request by the preset of its trigger.
 *
 * @param secrets the accepted secrets; several while a rotation overlaps
 * @throws {WebhookVerificationError} when the request is not authentic and fresh
 * @throws {Error} the errors of `sent.parse`
 */
export function verifiedWebhook(
  source: WebhookSource,
  secrets: readonly string[],
  sent: SentWebhook,
): AuthenticWebhook {
  return PRESETS[source.preset](secrets, sent, source);
}
