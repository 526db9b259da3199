import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { area, type Need, type RunnableCheck } from '../check.ts';
import { body, holds, refused, same, status } from '../expect.ts';
import { NOOP } from '../fixtures.ts';
import { described, jsonOf } from '../http/answer.ts';
import { deliveries, fixture, scopes, workspace } from '../needs.ts';
import type { Arrival, ScriptedAnswer } from '../receiver/receiver.ts';
import { carries, standardSignature, verify } from '../receiver/signature.ts';
import { resourceId, time } from '../shapes/id.ts';
import { endedRun } from '../steps/runs.ts';
import { arrivalOf, COMPLETED, placeOf, subscribe, undo, unregisterAfterwards } from '../steps/webhooks.ts';
import { advertised } from '../target.ts';
import type { World } from '../world.ts';

const RULE = 'Resources: Webhook subscription';
const STANDARD = 'standard-webhooks-1';

/** Replacement of a secret: by a new registration, or by rotation for Standard Webhooks subscriptions. */
export const rotation: readonly RunnableCheck[] = area(
  'rotation',
  { needs: [scopes('webhooks:manage', 'runs:create', 'runs:read'), workspace, fixture(NOOP), deliveries] },
  [
    {
      id: 'none-by-default',
      name: 'A subscription of the default scheme cannot rotate its secret, which keeps signing.',
      rule: [RULE, 'webhooks.secret.no-rotation-operation'],
      async run(world) {
        const subscribed = await subscribe(world);
        const place = placeOf(world, world.major, subscribed.webhookId, '/rotate-secret');
        const answer = await world.api.post(place, { secret: standardSecret() });
        refused(answer, status(answer, 400, 404, 501).status);
        const { runId } = await endedRun(world);
        const arrival = await arrivalOf(world, subscribed, runId);
        verify(arrival, carries(arrival, 'SVC') ? 'SVC' : 'X-svc', subscribed.secret);
      },
    },
    {
      id: 'by-registering-again',
      name: 'Unregistering and registering again replaces the secret: only the new subscription gets deliveries.',
      rule: [RULE, 'webhooks.secret.reregister-mints-new'],
      async run(world) {
        const former = await subscribe(world);
        status(await former.unregister(), 204);
        const current = await subscribe(world);
        const { runId } = await endedRun(world);
        const arrival = await arrivalOf(world, current, runId);
        verify(arrival, carries(arrival, 'SVC') ? 'SVC' : 'X-svc', current.secret);
        same(former.inbox.arrivals.length, 0, 'the number of deliveries to the former subscription');
      },
    },
    {
      id: 'standard-challenge',
      name: 'A Standard Webhooks registration sends a signed challenge to the endpoint before it is answered 201.',
      rule: [RULE, 'webhooks.signature.standard-challenge'],
      majors: [2],
      needs: [standard],
      async run(world) {
        const { inbox, secret } = await registerStandard(world);
        const [challenge] = inbox.arrivals;
        holds(challenge !== undefined, 'a challenge before the registration is answered', 'none');
        holds(
          standardSignature(challenge, secret).isRight,
          'a challenge that is signed with the secret',
          'another signature',
        );
        holds(!challenge.headers.has('svc-event-type'), 'a challenge without SVC-Event-Type', 'the header');
      },
    },
    {
      id: 'standard-unverified-400',
      name: 'A registration whose endpoint fails the challenge is answered 400 `webhook_endpoint_unverified`.',
      rule: [RULE, 'webhooks.signature.standard-challenge'],
      majors: [2],
      needs: [standard],
      async run(world) {
        const wrong = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"challenge":"another"}' };
        for (const answer of [200, 500, wrong]) {
          const asked = { ...standardRegistration(world.inbox(answer).url), secret: standardSecret() };
          const refusal = await world.api.post('/webhooks', asked);
          undo(world, refusal);
          refused(refusal, 400, 'webhook_endpoint_unverified');
        }
      },
    },
    {
      id: 'standard-form-400',
      name: 'A Standard Webhooks registration with a malformed secret or list of algorithms is answered 400.',
      rule: [RULE, 'webhooks.signature.standard-secret-form'],
      majors: [2],
      needs: [standard],
      async run(world) {
        const { url } = world.inbox(answering);
        const good = { ...standardRegistration(url), secret: standardSecret() };
        for (const change of [
          { secret: undefined },
          { secret: 'not-in-the-form-of-a-secret-of-this-scheme' },
          { secret: `whsec_${randomBytes(16).toString('base64')}` },
          { signatureAlgorithms: [STANDARD] },
          { signatureAlgorithms: ['v1', STANDARD, STANDARD] },
          { signatureAlgorithms: ['v1', 'conformance-none'] },
        ]) {
          const refusal = await world.api.post('/webhooks', { ...good, ...change });
          undo(world, refusal);
          refused(refusal, 400, 'validation_error');
        }
      },
    },
    {
      id: 'standard-signed',
      name: 'Standard Webhooks deliveries have the `webhook-signature` header and the `v1` signature.',
      rule: ['Webhook delivery rules: headers', 'webhooks.signature.standard-form'],
      majors: [2],
      needs: [standard],
      async run(world) {
        const subscribed = await registerStandard(world);
        const { runId } = await endedRun(world);
        const arrival = await arrivalOf(world, subscribed, runId);
        verify(arrival, 'SVC', subscribed.secret);
        const { id, isRight } = standardSignature(arrival, subscribed.secret);
        holds(isRight, 'a webhook-signature over id, timestamp and body, keyed by the secret', 'another signature');
        holds(/^[A-Za-z0-9_-]{16,128}$/.test(id), 'a webhook-id of 16 to 128 characters', id);
      },
    },
    {
      id: 'rotated',
      name: 'A rotation is answered with the expiry of the previous secret, and both secrets sign until then.',
      rule: [RULE, 'webhooks.signature.standard-rotation'],
      majors: [2],
      needs: [standard, rotates],
      async run(world) {
        const subscribed = await registerStandard(world);
        const secret = standardSecret();
        world.conceal(secret);
        const place = placeOf(world, 2, subscribed.webhookId, '/rotate-secret');
        const answer = await world.api.post(place, { secret });
        const { rotatedAt, previousSecretExpiresAt } = body(answer, 200, ROTATED);
        const overlap = (Date.parse(previousSecretExpiresAt) - Date.parse(rotatedAt)) / 1000;
        holds(overlap >= 60, 'an overlap of at least 60 s', `${overlap} s`, answer);
        const { runId } = await endedRun(world);
        const arrival = await arrivalOf(world, subscribed, runId);
        const [former, current] = [standardSignature(arrival, subscribed.secret), standardSignature(arrival, secret)];
        same(
          [former.isRight, current.isRight, current.entries],
          [true, true, 2],
          'the validity of the former and the current signature, and the number of signatures,',
        );
      },
    },
    {
      id: 'rotated-form-400',
      name: 'A rotation to a malformed secret is answered 400.',
      rule: [RULE, 'webhooks.signature.standard-secret-form'],
      majors: [2],
      needs: [standard, rotates],
      async run(world) {
        const subscribed = await registerStandard(world);
        const place = placeOf(world, 2, subscribed.webhookId, '/rotate-secret');
        for (const asked of [{}, { secret: 'not-in-the-form-of-a-secret-of-this-scheme' }]) {
          const answer = await world.api.post(place, asked);
          refused(answer, 400, 'validation_error');
          holds(!answer.text.includes(subscribed.secret), 'a body without the secret', described(answer), answer);
        }
      },
    },
  ],
);

const ROTATED = z.strictObject({ rotatedAt: time, previousSecretExpiresAt: time });

function standardSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function standardRegistration(url: string) {
  return { url, events: [COMPLETED], signatureAlgorithms: ['v1', STANDARD] };
}

/** Registers a Standard Webhooks subscription whose endpoint answers its challenge. */
async function registerStandard(world: World) {
  const inbox = world.inbox(answering);
  const secret = standardSecret();
  world.conceal(secret);
  const registration = { ...standardRegistration(inbox.url), tags: [world.tag], secret };
  const answer = await world.api.post('/webhooks', registration, { extraMs: 10_000 });
  const { webhookId } = body(answer, 201, z.looseObject({ webhookId: resourceId[2] }));
  unregisterAfterwards(world, world.api, webhookId);
  return { webhookId, secret, inbox };
}

/** Answers a challenge with its value, and any other request with 200. */
function answering({ body: bytes }: Arrival): ScriptedAnswer {
  const challenge = z.looseObject({ challenge: z.string() }).safeParse(jsonOf({ text: bytes.toString('utf8') }));
  if (!challenge.success) return { status: 200 };
  const body = JSON.stringify({ challenge: challenge.data.challenge });
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

function standard(...[target, major]: Parameters<Need>): string | undefined {
  const algorithms = advertised(target, major, 'webhooks')?.signatureAlgorithms;
  return Array.isArray(algorithms) && algorithms.includes(STANDARD)
    ? undefined
    : `the host does not advertise webhooks.signatureAlgorithms ${STANDARD}`;
}

function rotates(...[target, major]: Parameters<Need>): string | undefined {
  const found = advertised(target, major, 'webhooks')?.secretRotation;
  return found === undefined ? 'the host does not advertise webhooks.secretRotation' : undefined;
}
