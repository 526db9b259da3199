import { createHash, timingSafeEqual } from 'node:crypto';
import { AuthError } from '@svc/auth';
import { memoryRateLimiter } from '@svc/auth/rate-limit';
import { z } from 'zod';
import { HostError } from '../errors.ts';
import { json } from '../http/description.ts';
import { publicMountRoute } from '../http/public-route.ts';
import type { MountRoute } from '../http/route.ts';
import type { SmtpFacts } from '../ports/email.ts';
import type { TriggerOf } from '../ports/triggers.ts';
import { type ReceiveEmailOptions, receiveEmail } from '../triggers/email/receive.ts';
import { SMTP_HEADERS, smtpFactsIn } from '../triggers/email/smtp-facts.ts';
import { acceptedSecrets, openTriggerSecrets } from '../triggers/secrets.ts';
import { takenBody, takenMessage } from '../wire/trigger.ts';
import { senderOf, TRIGGER, type TriggerIngestOptions } from './trigger-ingest.ts';

export interface TriggerEmailOptions extends TriggerIngestOptions, ReceiveEmailOptions {}

/** The path after `/host/<org>` to which the relay of a trigger posts. */
export function emailPath(triggerId: string): string {
  return `/email/${triggerId}`;
}

interface Relayed {
  readonly trigger: TriggerOf<'email'>;
  readonly message: Uint8Array;
  readonly smtp: SmtpFacts;
}

/**
 * The public route of the source `email`. The secret of the relay is its only credential: it also says that the facts of the SMTP
 * session are true. The message then must pass DMARC. A refused message starts no run, and is one audit fact.
 *
 * @see Interface: Events, verification method `email-dmarc`
 */
export function triggerEmailRoute(options: TriggerEmailOptions): MountRoute {
  const { store, clock, secrets, maxBodyBytes, perClient, perTrigger } = options;
  const limiter = memoryRateLimiter({ ...perTrigger, now: () => clock.monotonic() });

  return publicMountRoute<Relayed>({
    method: 'POST',
    path: emailPath('{triggerId}'),
    limits: { maxBodyBytes, perClient },
    describes: {
      operationId: 'relayTriggerEmail',
      summary: 'Send an email to a trigger',
      path: TRIGGER,
      description:
        'For the mail relay of a trigger: a message as it was received, as `message/rfc822`, with the secret of the trigger in ' +
        `\`Authorization: Bearer\` and the facts of the SMTP session in the headers \`${Object.values(SMTP_HEADERS).join('`, `')}\`. ` +
        'The message must pass DMARC. When the response arrives, it is durable, together with its run. A message that was sent ' +
        'before starts no other run. 503 with `Retry-After`: the relay sends it again.',
      headers: SMTP_PARAMETERS,
      credential: {
        name: 'triggerEmailSecret',
        description: 'The secret of the trigger, from its registration or its last rotation. The mail relay keeps it.',
      },
      content: { 'message/rfc822': z.string().describe('The message as it was received.') },
      answers: {
        200: json('The message was sent before.', takenMessage),
        202: json('The message is durable.', takenMessage),
      },
      errors: ['forbidden', 'not_found'],
    },
    async verify({ params, headers, body }) {
      requireMessage(headers);
      const trigger = await store.triggers.read(params.triggerId ?? '');
      if (trigger?.source !== 'email')
        throw new HostError('not_found', 'There is no such trigger.', { details: undefined });
      requireRelay(headers, acceptedSecrets(openTriggerSecrets(secrets, trigger), clock.now()));
      const decision = await limiter.consume(trigger.triggerId);
      if (!decision.allowed) throw decision.error;
      return { principal: senderOf(trigger), value: { trigger, message: body, smtp: smtpFactsIn(headers) } };
    },
    async serve({ request }, { trigger, ...relayed }) {
      const { message, isRepeated } = await receiveEmail(options, trigger, relayed, request.signal);
      return { status: isRepeated ? 200 : 202, body: takenBody(trigger, message, isRepeated) };
    },
  });
}

const SMTP_PARAMETERS = {
  [SMTP_HEADERS.clientAddress]: z.string().describe('The IP address of the client of the SMTP session.'),
  [SMTP_HEADERS.helo]: z.string().describe('The name that the client gave in `HELO` or `EHLO`.'),
  [SMTP_HEADERS.mailFrom]: z
    .string()
    .describe('The address of `MAIL FROM`, in percent-encoded UTF-8, or `<>` for a bounce.'),
  [SMTP_HEADERS.rcptTo]: z
    .string()
    .describe('The addresses of `RCPT TO` in percent-encoded UTF-8, at most 100, separated by commas.'),
};

/** @throws {HostError} `unsupported_media_type` */
function requireMessage(headers: Headers): void {
  const [type = ''] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  const isPlain = (headers.get('content-encoding') ?? 'identity').toLowerCase() === 'identity';
  if (isPlain && type.trim() === 'message/rfc822') return;
  const text = 'Send the message as message/rfc822, without a Content-Encoding.';
  throw new HostError('unsupported_media_type', text, { details: undefined });
}

/** Compares in constant time. @throws {AuthError} `unauthenticated` */
function requireRelay(headers: Headers, accepted: readonly string[]): void {
  const [, given = ''] = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(headers.get('authorization') ?? '') ?? [];
  const wanted = digestOf(given);
  if (given !== '' && accepted.filter((secret) => timingSafeEqual(digestOf(secret), wanted)).length > 0) return;
  throw new AuthError('unauthenticated', 'The request must have the secret of the relay as a bearer token.', undefined);
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
