import type { Major } from '@svc/versioning';
import { isStandardSecret } from '@svc/webhook-verify/standard-webhooks';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { jsonValue } from '../json-schema.ts';
import type { StreamSource, Trigger } from '../ports/triggers.ts';
import { isPointer } from '../triggers/pointer.ts';
import type { TriggerRegistration } from '../triggers/register.ts';
import { isCronForm } from '../triggers/schedule/calendar.ts';
import { storedName } from './schemas.ts';

const pointer = z
  .string()
  .refine(isPointer, 'must be a JSON Pointer, such as /body/id')
  .describe(
    'A JSON Pointer into the document of a message: `id`, `source`, `type`, `receivedAt`, `scheduledAt` and `body`.',
  );

const name = z.string().min(1).max(128);

const mappedValue = z.union([
  z.strictObject({ pointer, default: jsonValue.optional() }).transform(({ pointer: place, default: otherwise }) => ({
    pointer: place,
    ...(otherwise !== undefined && { default: otherwise }),
  })),
  z.strictObject({ constant: jsonValue }),
]);

const mapping = z.strictObject({
  workflowId: z.union([
    name,
    z.strictObject({
      pointer,
      cases: z
        .record(name, name)
        .refine((cases) => Object.keys(cases).length <= 64, 'must have at most 64 members')
        .describe('The workflow for each text at the place.'),
    }),
  ]),
  inputs: z
    .record(name, mappedValue)
    .refine((inputs) => Object.keys(inputs).length <= 64, 'must have at most 64 members')
    .default({}),
});

const HEADER = z
  .string()
  .max(64)
  .regex(/^[A-Za-z0-9-]+$/, 'must be the name of a header')
  .transform((header) => header.toLowerCase());

const signature = z
  .strictObject({
    header: HEADER,
    algorithm: z.enum(['sha256', 'sha512']).default('sha256'),
    encoding: z.enum(['hex', 'base64']).default('hex'),
    prefix: z.string().max(32).default(''),
    timestampHeader: HEADER.optional(),
  })
  .transform(({ timestampHeader, ...rules }) => ({
    ...rules,
    ...(timestampHeader !== undefined && { timestampHeader }),
  }));

const PRESETS = ['svc', 'standard-webhooks', 'github', 'stripe', 'slack', 'shopify', 'hmac'] as const;

const webhook = z
  .strictObject({
    preset: z.enum(PRESETS).describe('The sender, whose signature is verified.'),
    signature: signature.optional().describe('The form of the signature, for the preset `hmac` alone.'),
    types: z.array(name).min(1).max(100).optional().describe('The types that start a run. Absent: every type.'),
    dedupPointer: z
      .string()
      .refine(isPointer, 'must be a JSON Pointer, such as /id')
      .optional()
      .describe(
        'The place of an id in the body: a text, or a number up to 2^53. Absent, and where there is none: the id that the sender signs, or a digest of the body.',
      ),
  })
  .refine(({ preset, signature: rules }) => (preset === 'hmac') === (rules !== undefined), {
    path: ['signature'],
    error: 'is required for the preset hmac, and has no meaning for others',
  })
  .transform(({ preset, signature: rules, types, dedupPointer }) => ({
    preset,
    ...(rules !== undefined && { signature: rules }),
    ...(types !== undefined && { types }),
    ...(dedupPointer !== undefined && { dedupPointer }),
  }));

const schedule = z
  .strictObject({
    cron: z
      .string()
      .refine(isCronForm, 'must be a cron expression of five fields, such as 0 9 * * MON-FRI')
      .describe('Minute, hour, day of the month, month and day of the week.'),
    timeZone: z.string().min(1).max(64).default('UTC').describe('An IANA time zone, such as `Europe/Berlin`.'),
    missed: z
      .enum(['skip', 'once', 'all'])
      .default('skip')
      .describe('The occurrences that fire late after an outage: none, the latest one, or up to the latest 100.'),
    jitterSeconds: z.int().min(0).max(3600).default(0).describe('The most seconds by which an occurrence fires later.'),
  })
  .describe('The times at which runs start.');

const form = z
  .strictObject({
    origins: z
      .array(z.string().max(256).refine(isOrigin, 'must be an origin such as https://www.example.com'))
      .max(32)
      .default([])
      .describe('The origins of pages that may submit, beside the origin of the host.'),
  })
  .describe('The pages that may submit.');

/** The origin of an HTTPS page; of an HTTP one on the own machine alone, where developers work. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  return origin === text && (protocol === 'https:' || (protocol === 'http:' && hostname === 'localhost'));
}

const queue = z
  .strictObject({
    connection: name.describe('The name of a connection that the operator of the host has configured.'),
    name: z
      .string()
      .min(1)
      .max(255)
      .describe('The name of the queue at its broker. The operator grants it to the tenant.'),
    dedupPointer: z
      .string()
      .refine(isPointer, 'must be a JSON Pointer, such as /id')
      .optional()
      .describe(
        'The place of an id in the content: a text, or a number up to 2^53. Absent, and where there is none: the id that the broker gave the message.',
      ),
  })
  .transform(({ connection, name: queueName, dedupPointer }) => ({
    ...{ connection, name: queueName },
    ...(dedupPointer !== undefined && { dedupPointer }),
  }))
  .describe('The queue whose messages start runs.');

const entry = z
  .string()
  .max(320)
  .regex(/^[^\s<>,@]*@[^\s<>,@]+$/, 'must be an address such as ada@example.com, or a domain such as @example.com')
  .transform((text) => text.toLowerCase());

const email = z
  .strictObject({
    senders: z
      .array(entry)
      .min(1)
      .max(200)
      .describe('Authors whose messages start runs: addresses, or `@` and a domain.'),
    recipients: z
      .array(entry)
      .min(1)
      .max(200)
      .describe('Recipients for which the relay may post: addresses, or `@` and a domain.'),
  })
  .describe('The messages that start runs.');

const dedupPointer = z
  .string()
  .refine(isPointer, 'must be a JSON Pointer, such as /id')
  .optional()
  .describe('The place of an id in the content. Absent: the id of an event, or the cursor of a line.');

const url = z.string().min(1).max(2048).describe('The URL, judged by the rules for webhooks at each connection.');

const credential = z
  .strictObject({
    header: z
      .string()
      .max(64)
      .regex(/^[A-Za-z0-9-]+$/, 'must be the name of a header')
      .transform((header) => header.toLowerCase())
      .refine((header) => !OWN_HEADERS.test(header), 'must not be a header that the host sets')
      .default('authorization')
      .describe('The header that has the credential.'),
    prefix: z
      .string()
      .max(32)
      .regex(/^[\x20-\x7e]*$/, 'must have printable ASCII characters')
      .default('')
      .describe('The text before the secret, such as `Bearer `.'),
  })
  .describe('The header whose value is `secret`.');

/** The headers of the request for a stream, and those that frame it. */
const OWN_HEADERS =
  /^(?:accept|accept-encoding|cache-control|last-event-id|host|connection|content-.*|transfer-encoding|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/;

const stream = z
  .discriminatedUnion('format', [
    z.strictObject({
      format: z.literal('sse').describe('Server-Sent Events, resumed by `Last-Event-ID`.'),
      url,
      types: z
        .array(name)
        .min(1)
        .max(100)
        .optional()
        .describe('The types of events that start a run. Absent: every type.'),
      dedupPointer,
      credential: credential.optional(),
    }),
    z
      .strictObject({
        format: z.literal('ndjson').describe('A line of JSON for each message.'),
        url,
        dedupPointer,
        cursorPointer: z
          .string()
          .refine(isPointer, 'must be a JSON Pointer, such as /seq')
          .optional()
          .describe('The place of a cursor in the content. Absent: the stream is read from its beginning each time.'),
        cursorParameter: name
          .optional()
          .describe('The query parameter in which the cursor is sent. Absent: the header `Last-Event-ID`.'),
        credential: credential.optional(),
      })
      .refine((rules) => rules.dedupPointer !== undefined || rules.cursorPointer !== undefined, {
        path: ['cursorPointer'],
        error: 'is required, or dedupPointer: lines without an identity could not be told from repeated ones',
      })
      .refine((rules) => rules.cursorParameter === undefined || rules.cursorPointer !== undefined, {
        path: ['cursorParameter'],
        error: 'has no meaning without cursorPointer',
      }),
  ])
  .transform((rules): StreamSource => JSON.parse(JSON.stringify(rules)))
  .describe('The stream whose messages start runs.');

const change = z
  .strictObject({
    table: name.describe('The name of a table that the operator of the host has configured and granted to the tenant.'),
    from: z
      .enum(['now', 'beginning'])
      .default('now')
      .describe('The rows that start runs: those after the registration, or all.'),
  })
  .describe('The table whose rows start runs.');

/** The value of a header. */
const CREDENTIAL = z
  .string()
  .min(1)
  .max(8192)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII characters, without space at its ends');

const SECRET = z
  .string()
  .max(512)
  .refine((secret) => new TextEncoder().encode(secret).length >= 16, 'must be at least 16 bytes')
  .refine((secret) => secret.trim() === secret, 'must not begin or end with white space');

const retryPolicy = z.strictObject({
  maxAttempts: z.int().min(1).max(20),
  backoff: z.enum(['none', 'fixed', 'exponential']),
});

const description = z.string().min(1).max(512);

/** The secret of Standard Webhooks has a form of its own. */
const fitsPreset = (preset: string, secret: string | undefined) =>
  preset !== 'standard-webhooks' || secret === undefined || isStandardSecret(secret);
const STANDARD_FORM = 'must be whsec_ followed by the base64 of 24 to 64 bytes for standard-webhooks';

/** The secret of a relay is sent in a header. */
const BEARER = /^[\x21-\x7e]+$/;
const BEARER_FORM = 'must be of visible ASCII characters';

const COMMON = {
  tenantId: storedName(128)
    .optional()
    .describe('The workspace of the runs. Absent: the only workspace of the credential.'),
  description: description.optional(),
  mapping,
  retryPolicy: retryPolicy.optional(),
};

const registration = z
  .discriminatedUnion('source', [
    z.strictObject({
      ...COMMON,
      source: z.literal('webhook'),
      webhook,
      secret: SECRET.optional().describe('The secret of the sender. Absent: the host generates one.'),
    }),
    z.strictObject({ ...COMMON, source: z.literal('schedule'), schedule }),
    z.strictObject({ ...COMMON, source: z.literal('form'), form: form.prefault({}) }),
    z.strictObject({ ...COMMON, source: z.literal('queue'), queue }),
    z.strictObject({ ...COMMON, source: z.literal('change'), change }),
    z.strictObject({
      ...COMMON,
      source: z.literal('email'),
      email,
      secret: SECRET.regex(BEARER, BEARER_FORM)
        .optional()
        .describe('The secret of the relay. Absent: the host generates one.'),
    }),
    z.strictObject({
      ...COMMON,
      source: z.literal('stream'),
      stream,
      secret: CREDENTIAL.optional().describe('The credential for the URL. Stored encrypted, and never shown.'),
    }),
  ])
  .refine(
    (body) => body.source !== 'stream' || (body.stream.credential === undefined) === (body.secret === undefined),
    {
      path: ['secret'],
      error: 'is required with stream.credential, and has no meaning without it',
    },
  )
  .refine((body) => body.source !== 'webhook' || fitsPreset(body.webhook.preset, body.secret), {
    path: ['secret'],
    error: STANDARD_FORM,
  })
  .transform(
    (body): TriggerRegistration => ({
      workspace: body.tenantId,
      description: body.description,
      mapping: body.mapping,
      rules: rulesOf(body),
      secret: 'secret' in body ? body.secret : undefined,
      retryPolicy: body.retryPolicy,
    }),
  );

function rulesOf(body: TriggerRegistration['rules']): TriggerRegistration['rules'] {
  switch (body.source) {
    case 'webhook':
      return { source: 'webhook', webhook: body.webhook };
    case 'schedule':
      return { source: 'schedule', schedule: body.schedule };
    case 'form':
      return { source: 'form', form: body.form };
    case 'queue':
      return { source: 'queue', queue: body.queue };
    case 'email':
      return { source: 'email', email: body.email };
    case 'change':
      return { source: 'change', change: body.change };
    case 'stream':
      return { source: 'stream', stream: body.stream };
  }
}

/** The schema of the body of a registration, the same in both majors. Parses into the request of the domain. */
export const triggerRegistration: Readonly<Record<Major, z.ZodType<TriggerRegistration>>> = {
  1: registration,
  2: registration,
};

export const triggerExample: JsonObject = {
  source: 'webhook',
  tenantId: 'acme-prod',
  mapping: { workflowId: 'echo', inputs: { order: { pointer: '/body/data' }, origin: { constant: 'shop' } } },
  webhook: { preset: 'standard-webhooks', types: ['order.created'] },
};

/** The schema of the body of an edit. An absent member stays; `null` removes the description. */
export const triggerEdit = z
  .strictObject({
    description: description.nullable().optional(),
    mapping: mapping.optional(),
    types: z.array(name).min(1).max(100).nullable().optional().describe('For a webhook. `null`: every type.'),
    schedule: schedule.optional().describe('For a schedule. Its next occurrence is the first one after the edit.'),
    form: form.optional().describe('For a form.'),
    email: email.optional().describe('For an email.'),
    retryPolicy: retryPolicy.optional(),
  })
  .refine(
    (edit) => Object.keys(edit).length > 0,
    'must have description, mapping, types, schedule, form, email or retryPolicy',
  );

/** The schema of the body of a rotation. */
export const triggerRotation: z.ZodType<{ readonly secret?: string | undefined }> = z.strictObject({
  secret: CREDENTIAL.optional().describe(
    'The new secret of the sender or the relay, or the new credential for a stream. Absent: the host generates the secret of a sender or a relay.',
  ),
});

/** Returns whether a secret has the form that the preset of a trigger, or its relay, needs. */
export function isSecretOf(trigger: Trigger, secret: string | undefined): boolean {
  if (trigger.source !== 'webhook' && trigger.source !== 'email') return true;
  if (!SECRET.optional().safeParse(secret).success) return false;
  if (trigger.source === 'email') return secret === undefined || BEARER.test(secret);
  return fitsPreset(trigger.webhook.preset, secret);
}

/** The schema of the body of a trial. */
export const triggerTrial = z.strictObject({
  body: jsonValue.optional().describe('The body of the message. Absent for a schedule, whose occurrences have none.'),
  type: name.optional().describe('The type of the message.'),
});

/** The schema of the body of a redrive. */
export const triggerRedrive = z.strictObject({
  deliveryIds: z.array(z.string().min(1).max(512)).min(1).max(500).optional(),
});
