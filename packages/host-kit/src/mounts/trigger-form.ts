import { anonymousActor, type Principal } from '@svc/auth';
import { memoryRateLimiter } from '@svc/auth/rate-limit';
import { z } from 'zod';
import { HostError } from '../errors.ts';
import { json } from '../http/description.ts';
import { publicMountRoute } from '../http/public-route.ts';
import type { MountRoute, Reply } from '../http/route.ts';
import type { Random } from '../ports/random.ts';
import type { TriggerMessage, TriggerOf } from '../ports/triggers.ts';
import { bodyOf, type FormField, parseFields, requireForm, TOKEN_FIELD } from '../triggers/form/fields.ts';
import { formDocument } from '../triggers/form/message.ts';
import { hasSameFields, type Submission, submissionOf } from '../triggers/form/submission.ts';
import { isTimely, mintFormToken, readFormToken } from '../triggers/form/token.ts';
import { takeMessage } from '../triggers/receive.ts';
import { openTriggerSecrets } from '../triggers/secrets.ts';
import { takenBody, takenMessage } from '../wire/trigger.ts';
import { TRIGGER, type TriggerIngestOptions } from './trigger-ingest.ts';

export interface TriggerFormOptions extends TriggerIngestOptions {
  /** The origin of the host, such as `https://svc.example.com`. */
  readonly hostOrigin: string;
}

/** The path after `/host/<org>` to which a form posts. */
export function formPath(triggerId: string): string {
  return `/forms/${triggerId}`;
}

type FormTrigger = TriggerOf<'form'>;

/** The fields of an authentic submission, and the message that was stored for its token before. */
interface Submitted {
  readonly trigger: FormTrigger;
  readonly origin: string;
  readonly fields: readonly FormField[];
  readonly submission: Submission;
  readonly known: TriggerMessage | undefined;
}

/**
 * The public routes of the source `form`. The page is anonymous: its origin and a token for one submission are all that the host
 * verifies. A refused request starts no run, and is one audit fact, at most 60 of them in a minute.
 *
 * @see Interface: Events, verification method `form-origin`
 */
export function triggerFormRoutes(options: TriggerFormOptions): MountRoute[] {
  return [tokenRoute(options), submitRoute(options)];
}

function tokenRoute(options: TriggerFormOptions): MountRoute {
  const { storeClock, random, secrets, perClient, hostOrigin } = options;
  return publicMountRoute<{ readonly trigger: FormTrigger; readonly origin: string }>({
    method: 'GET',
    path: `${formPath('{triggerId}')}/token`,
    limits: { perClient },
    describes: {
      operationId: 'getFormToken',
      summary: 'Get a token for one submission of a form',
      path: TRIGGER,
      description:
        'For the page of a form, as the browser sends it: with `Origin`, or with `Sec-Fetch-Site: same-origin`. The token is ' +
        `valid for an hour, for pages of this origin alone. The form sends it in the field \`${TOKEN_FIELD}\`.`,
      answers: { 200: json('The token.', formToken, { headers: ['Cache-Control', 'Vary'] }) },
      errors: ['forbidden', 'not_found'],
    },
    async verify({ params, headers }) {
      const trigger = await formOf(options, params.triggerId);
      const origin =
        headers.get('origin') ?? (headers.get('sec-fetch-site') === 'same-origin' ? hostOrigin : undefined);
      return {
        principal: visitorOf(trigger, hostOrigin, random),
        value: { trigger, origin: admitted(options, trigger, origin) },
      };
    },
    async serve(_call, { trigger, origin }) {
      const { current } = openTriggerSecrets(secrets, trigger);
      const { triggerId } = trigger;
      const now = await storeClock.read();
      const { token, expiresAt } = mintFormToken(current, { triggerId, origin }, { now, random });
      return forPage(origin, 200, { token, field: TOKEN_FIELD, expiresAt: new Date(expiresAt).toISOString() });
    },
  });
}

function submitRoute(options: TriggerFormOptions): MountRoute {
  const { store, storeClock, clock, random, secrets, maxBodyBytes, perClient, perTrigger, hostOrigin } = options;
  const limiter = memoryRateLimiter({ ...perTrigger, now: () => clock.monotonic() });

  return publicMountRoute<Submitted>({
    method: 'POST',
    path: formPath('{triggerId}'),
    limits: { maxBodyBytes, perClient },
    describes: {
      operationId: 'submitForm',
      summary: 'Submit a form to a trigger',
      path: TRIGGER,
      description:
        'For the page of a form: fields without files, as `application/x-www-form-urlencoded` or `multipart/form-data`, with a ' +
        'token. When the response arrives, the submission is durable, together with its run. The same submission with the same ' +
        'token gets the first response; another one with a used token is refused.',
      content: { 'application/x-www-form-urlencoded': submittedForm, 'multipart/form-data': submittedForm },
      answers: {
        200: json('The same submission was sent before.', takenMessage, FOR_PAGE),
        202: json('The submission is durable.', takenMessage, FOR_PAGE),
      },
      errors: ['forbidden', 'not_found'],
    },
    async verify({ params, headers, body }) {
      requireForm(headers);
      const trigger = await formOf(options, params.triggerId);
      const origin = admitted(options, trigger, headers.get('origin') ?? undefined);
      const fields = await parseFields(headers, body);
      const tokens = fields.filter(([name]) => name === TOKEN_FIELD);
      const { triggerId } = trigger;
      const { current } = openTriggerSecrets(secrets, trigger);
      const token =
        tokens.length === 1 ? readFormToken(current, { triggerId, origin }, tokens[0]?.[1] ?? '') : undefined;
      if (token === undefined) throw refused(`The field ${TOKEN_FIELD} must have a token of this form and origin.`);
      const submission = submissionOf(token.nonce, fields, { now: storeClock.now, random });
      const now = await storeClock.read();
      const known = await store.triggers.known(triggerId, submission.dedupKey, now);
      if (known !== undefined && !hasSameFields(known, submission)) throw used();
      if (known === undefined && !isTimely(token, now))
        throw refused('The token of the form has expired. Get another one.');
      const decision = await limiter.consume(triggerId);
      if (!decision.allowed) throw decision.error;
      const principal = visitorOf(trigger, hostOrigin, random);
      return { principal, value: { trigger, origin, fields, submission, known } };
    },
    serve: (_call, submitted) => serve(options, submitted),
  });
}

async function serve(
  options: TriggerFormOptions,
  { trigger, origin, fields, submission, known }: Submitted,
): Promise<Reply> {
  if (known !== undefined) return forPage(origin, 200, takenBody(trigger, known, true));
  const document = (facts: { readonly deliveryId: string; readonly receivedAt: number }) =>
    formDocument(bodyOf(fields), facts);
  const { message, isRepeated } = await takeMessage(options, trigger, { ...submission, document });
  // Another request used the token meanwhile.
  if (isRepeated && !hasSameFields(message, submission)) throw used();
  return forPage(origin, isRepeated ? 200 : 202, takenBody(trigger, message, isRepeated));
}

async function formOf({ store }: TriggerFormOptions, triggerId = ''): Promise<FormTrigger> {
  const trigger = await store.triggers.read(triggerId);
  if (trigger?.source === 'form') return trigger;
  throw new HostError('not_found', 'There is no such form.', { details: undefined });
}

/** Returns the origin of the page. A page without one, such as a file or a frame without rights, is refused. */
function admitted({ hostOrigin }: TriggerFormOptions, { form }: FormTrigger, origin: string | undefined): string {
  if (origin !== undefined && (origin === hostOrigin || form.origins.includes(origin))) return origin;
  const problem =
    origin === undefined ? 'The request has no Origin.' : 'Pages of this origin may not submit this form.';
  throw refused(`${problem} Send it from a page of an origin that the trigger lists.`);
}

/** An actor of one request, without a link to other ones. It holds no scope: the start of a run judges the registrar. */
function visitorOf({ tenant, workspace, mode }: FormTrigger, issuer: string, random: Random): Principal {
  const workspaces = workspace === undefined ? 'all' : [workspace];
  return anonymousActor({ tenancy: { tenant, workspaces, mode }, issuer, randomBytes: random });
}

/** A reply that scripts of the page may read. */
function forPage(origin: string, status: number, body: Exclude<Reply['body'], undefined>): Reply {
  const headers = { 'access-control-allow-origin': origin, vary: 'Origin', 'cache-control': 'no-store' };
  return { status, headers, body };
}

function used(): HostError {
  return refused('The token of the form was used for another submission. Get another one.');
}

function refused(message: string): HostError {
  return new HostError('forbidden', message, { details: undefined });
}

const FOR_PAGE = { headers: ['Cache-Control', 'Vary'] } as const;

const submittedForm: z.ZodType = z
  .object({ [TOKEN_FIELD]: z.string().describe('A token of this form and origin.') })
  .catchall(z.string().describe('A field of the form.'));

const formToken: z.ZodType = z
  .strictObject({
    token: z.string(),
    field: z.literal(TOKEN_FIELD).describe('The name of the field that sends it.'),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'FormToken' });
