import { AuthError, type Principal } from '@svc/auth';
import { memoryRateLimiter } from '@svc/auth/rate-limit';
import { WebhookVerificationError } from '@svc/webhook-verify';
import { z } from 'zod';
import { HostError } from '../errors.ts';
import { parseJson, requireJson } from '../http/body.ts';
import { json } from '../http/description.ts';
import { publicMountRoute } from '../http/public-route.ts';
import type { MountRoute, Reply } from '../http/route.ts';
import type { Json } from '../json.ts';
import { jsonValue } from '../json-schema.ts';
import type { Trigger, TriggerOf } from '../ports/triggers.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import { receiveMessage } from '../triggers/receive.ts';
import { acceptedSecrets, openTriggerSecrets } from '../triggers/secrets.ts';
import type { StartOptions } from '../triggers/start.ts';
import { type AuthenticWebhook, verifiedWebhook } from '../triggers/webhook/presets.ts';
import { takenBody, takenMessage } from '../wire/trigger.ts';

export interface TriggerIngestOptions extends StartOptions {
  readonly secrets: SecretBox;
  /** The largest body, in bytes. */
  readonly maxBodyBytes: number;
  /** The most requests of one client address. */
  readonly perClient: RequestRate;
  /** The most authentic messages of one trigger. Others count for their client address alone. */
  readonly perTrigger: RequestRate;
}

/** A number of requests in a window of time. */
export interface RequestRate {
  /** The most requests in a window. */
  readonly limit: number;
  /** The length of the window, in seconds. */
  readonly windowSeconds: number;
}

/** The path after `/host/<org>` to which the sender of a trigger posts. */
export function ingestPath(triggerId: string): string {
  return `/ingest/${triggerId}`;
}

/** The path parameter of the public routes of triggers. */
export const TRIGGER = { triggerId: z.string().min(1).max(128).describe('The id of the trigger.') };

interface Admitted {
  readonly trigger: TriggerOf<'webhook'>;
  readonly authentic: AuthenticWebhook;
}

/**
 * The public route of the source `webhook`. The signature over the body as received is its only credential. A refused
 * request starts no run, and is one audit fact, at most 60 of them in a minute.
 */
export function triggerIngestRoute(options: TriggerIngestOptions): MountRoute {
  const { store, clock, secrets, maxBodyBytes, perClient, perTrigger } = options;
  const limiter = memoryRateLimiter({ ...perTrigger, now: () => clock.monotonic() });

  return publicMountRoute<Admitted>({
    method: 'POST',
    path: ingestPath('{triggerId}'),
    limits: { maxBodyBytes, perClient },
    describes: {
      operationId: 'ingestTriggerMessage',
      summary: 'Send a message to a trigger',
      path: TRIGGER,
      description:
        'For the sender of a trigger: a JSON body, signed as the preset of the trigger says. When the response arrives, the ' +
        'message is durable, together with its run. A message that was sent before starts no other run.',
      content: { 'application/json': jsonValue },
      answers: {
        200: json('The message was sent before, is of a type that starts no run, or is a challenge.', takenMessage),
        202: json('The message is durable.', takenMessage),
      },
      errors: ['unauthenticated', 'not_found'],
    },
    async verify({ params, headers, body }) {
      // A sender without JSON is a sender that was configured wrongly. It learns so before any other work.
      requireJson(headers);
      const trigger = await store.triggers.read(params.triggerId ?? '');
      if (trigger?.source !== 'webhook')
        throw new HostError('not_found', 'There is no such trigger.', { details: undefined });
      const now = clock.now();
      const accepted = acceptedSecrets(openTriggerSecrets(secrets, trigger), now);
      const authentic = verified(() =>
        verifiedWebhook(trigger.webhook, accepted, { headers, body, now, parse: contentOf }),
      );
      // Authentic messages alone count. Forged ones could otherwise take the whole rate of the sender.
      const decision = await limiter.consume(trigger.triggerId);
      if (!decision.allowed) throw decision.error;
      return { principal: senderOf(trigger), value: { trigger, authentic } };
    },
    serve: (_call, { trigger, authentic }) => serve(options, trigger, authentic),
  });
}

async function serve(
  options: StartOptions,
  trigger: TriggerOf<'webhook'>,
  authentic: AuthenticWebhook,
): Promise<Reply> {
  if (authentic.kind === 'challenge') return { status: 200, body: authentic.answer };
  const taken = await receiveMessage(options, trigger, authentic);
  if (taken.kind === 'ignored') return { status: 200, body: { outcome: 'ignored' } };
  const { message, isRepeated } = taken;
  return { status: isRepeated ? 200 : 202, body: takenBody(trigger, message, isRepeated) };
}

/** The trigger acts for its registrar. It holds no scope: the start of a run judges the registrar itself. */
export function senderOf({ registrar, triggerId }: Trigger): Principal {
  const { id, kind, tenancy, subject } = registrar;
  return { id, kind, tenancy, subject, credentialId: triggerId, lane: 'trigger', binding: 'bearer', scopes: [] };
}

function contentOf(body: Uint8Array): Json {
  return parseJson(body).json;
}

/** The sender learns the rule that it broke. The message says nothing about the secret. */
function verified(verify: () => AuthenticWebhook): AuthenticWebhook {
  try {
    return verify();
  } catch (error) {
    if (!WebhookVerificationError.is(error)) throw error;
    throw new AuthError('unauthenticated', `${error.code}: ${error.message}`, undefined);
  }
}
