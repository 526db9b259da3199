import { z } from 'zod';
import { invalid } from '../errors.ts';
import { empty, json } from '../http/description.ts';
import { type MountCall, type MountRoute, mountRoute, parse } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import type { Trigger } from '../ports/triggers.ts';
import {
  editTrigger,
  managedTrigger,
  moveTrigger,
  type RedriveTriggerOptions,
  type RotatedTrigger,
  type RotateTriggerOptions,
  redriveTrigger,
  removeTrigger,
  rotateTriggerSecret,
  type TriggerEdit,
} from '../triggers/operate.ts';
import { START_SCOPE } from '../triggers/standing.ts';
import { type TryOptions, tryMessage } from '../triggers/try.ts';
import {
  messageBody,
  messagePage,
  redrivenMessages,
  rotatedTrigger,
  triedView,
  triggerBody,
  triggerPage,
  triggerView,
} from '../wire/trigger.ts';
import {
  isSecretOf,
  triggerEdit,
  triggerRedrive,
  triggerRotation,
  triggerTrial,
} from '../wire/trigger-registration.ts';
import {
  ADDRESS_ERRORS,
  bareId,
  idIn,
  LIMIT,
  ok,
  PRIVATE,
  pageIdIn,
  pageLimit,
  STATE_ERRORS,
} from './owned-webhook.ts';

export interface TriggerMountOptions extends RedriveTriggerOptions, RotateTriggerOptions, TryOptions {
  /** The URL to which the sender of a trigger posts; undefined for a trigger that is no webhook and no form. */
  readonly ingestUrl: (trigger: Trigger) => string | undefined;
}

/**
 * The routes of an operator under `/host/<org>/triggers`. Operations by which a caller could start runs under the authority
 * of the registrar need `runs:create` beside `webhooks:manage`.
 */
export function triggerMountRoutes(options: TriggerMountOptions): MountRoute[] {
  return [...readingRoutes(options), ...changingRoutes(options), ...messageRoutes(options)];
}

const scope = 'webhooks:manage';
const ADDRESSED = {
  triggerId: z.string().min(1).max(512).describe('The id of the trigger, in the form of either major.'),
};
const triggerIn = (call: MountCall) => idIn(call, 'triggerId');

function readingRoutes(options: TriggerMountOptions): MountRoute[] {
  const { store } = options;
  return [
    mountRoute({
      method: 'GET',
      path: '/triggers',
      scope,
      describes: {
        operationId: 'listTriggers',
        summary: 'List triggers',
        description: 'The triggers of the tenant, in the order of their ids. No secret is shown.',
        query: { limit: LIMIT, after: z.string().optional().describe('The `nextAfter` of the previous page.') },
        answers: { 200: json('A page of triggers.', triggerPage, PRIVATE) },
      },
      async serve(call) {
        const limit = pageLimit(call.query);
        const page = { after: pageIdIn(call, 'after') ?? '', limit: limit + 1 };
        const found = await store.triggers.list(call.principal.tenancy, page);
        const shown = found.slice(0, limit);
        const last = shown.at(-1);
        const more = found.length > limit && last !== undefined;
        return ok({ triggers: await bodiesOf(options, shown), ...(more && { nextAfter: last.triggerId }) });
      },
    }),
    mountRoute({
      method: 'GET',
      path: '/triggers/{triggerId}',
      scope,
      describes: {
        operationId: 'readTrigger',
        summary: 'Read a trigger',
        description: 'A trigger with its state, its mapping and the URL for its sender.',
        path: ADDRESSED,
        answers: { 200: json('The trigger.', triggerView, PRIVATE) },
        errors: ADDRESS_ERRORS,
      },
      async serve(call) {
        const trigger = await managedTrigger(store, call.principal, triggerIn(call));
        return ok(await bodyOf(options, trigger));
      },
    }),
  ];
}

function changingRoutes(options: TriggerMountOptions): MountRoute[] {
  const { store } = options;
  const shown = async (trigger: Trigger) => ok(await bodyOf(options, trigger));
  return [
    mountRoute({
      method: 'PATCH',
      path: '/triggers/{triggerId}',
      scope,
      takesBody: true,
      describes: {
        operationId: 'editTrigger',
        summary: 'Edit a trigger',
        description:
          'Changes the mapping, the rules of the source, the retries or the description. Needs `runs:create`, too.',
        path: ADDRESSED,
        body: triggerEdit,
        example: { mapping: { workflowId: 'echo', inputs: { order: { pointer: '/body' } } } },
        answers: { 200: json('The trigger.', triggerView, PRIVATE) },
        errors: ADDRESS_ERRORS,
      },
      // Safe without an idempotency key: a repeated edit changes nothing.
      async serve(call) {
        const starter = await call.permit(START_SCOPE);
        const { description, types, mapping, retryPolicy, schedule, form, email } = parse(triggerEdit, call.json);
        const edit: TriggerEdit = {
          ...(description !== undefined && { description }),
          ...(mapping !== undefined && { mapping }),
          ...(retryPolicy !== undefined && { retryPolicy }),
          ...(types !== undefined && { types }),
          ...(schedule !== undefined && { schedule }),
          ...(form !== undefined && { form }),
          ...(email !== undefined && { email }),
        };
        return shown(await editTrigger(options, starter, triggerIn(call), edit));
      },
    }),
    // A repeated pause or resume changes nothing.
    ...(['pause', 'resume'] as const).map((signal) =>
      mountRoute({
        method: 'POST',
        path: `/triggers/{triggerId}/${signal}`,
        scope,
        describes: {
          operationId: `${signal}Trigger`,
          ...SIGNALS[signal],
          path: ADDRESSED,
          answers: { 200: json('The trigger.', triggerView, PRIVATE) },
          errors: STATE_ERRORS,
        },
        serve: async (call) => shown(await moveTrigger(options, call.principal, triggerIn(call), signal)),
      }),
    ),
    mountRoute({
      method: 'DELETE',
      path: '/triggers/{triggerId}',
      scope,
      describes: {
        operationId: 'deleteTrigger',
        summary: 'Delete a trigger',
        description: 'No message starts a run after the response. Its messages are deleted, too.',
        path: ADDRESSED,
        answers: { 204: empty('The trigger is gone.') },
        errors: ADDRESS_ERRORS,
      },
      async serve(call) {
        await removeTrigger(options, call.principal, triggerIn(call));
        return { status: 204 };
      },
    }),
    mountRoute({
      method: 'POST',
      path: '/triggers/{triggerId}/rotate-secret',
      scope,
      takesBody: true,
      takesKey: true,
      describes: {
        operationId: 'rotateTriggerSecret',
        summary: 'Rotate the secret of a trigger',
        description:
          'For a webhook and an email: the replaced secret is accepted until the overlap ends. For the credential of a stream: it is ' +
          'replaced at once. Needs `runs:create`, too.',
        path: ADDRESSED,
        body: triggerRotation,
        example: {},
        answers: { 200: json('The rotation.', rotatedTrigger, PRIVATE) },
        errors: ADDRESS_ERRORS,
      },
      async serve(call) {
        const starter = await call.permit(START_SCOPE);
        const { secret: brought } = parse(triggerRotation, call.json);
        const found = await managedTrigger(store, starter, triggerIn(call));
        if (!isSecretOf(found, brought))
          throw invalid({
            field: 'secret',
            problem: 'must have the form of the preset, or be of visible ASCII characters',
          });
        const triggerId = triggerIn(call);
        return call.once<JsonObject>(
          async (save) => {
            const shown = ({ secret, previousSecretExpiresAt }: RotatedTrigger): JsonObject => ({
              ...(brought === undefined && { secret }),
              previousSecretExpiresAt: new Date(previousSecretExpiresAt).toISOString(),
            });
            return shown(
              await rotateTriggerSecret(options, starter, triggerId, brought, (rotated, transaction) =>
                save(shown(rotated), transaction),
              ),
            );
          },
          async (rotation) =>
            ok({ trigger: await bodyOf(options, await managedTrigger(store, starter, triggerId)), ...rotation }),
        );
      },
    }),
  ];
}

function messageRoutes(options: TriggerMountOptions): MountRoute[] {
  const { store, storeClock } = options;
  return [
    mountRoute({
      method: 'POST',
      path: '/triggers/{triggerId}/try',
      scope,
      takesBody: true,
      describes: {
        operationId: 'tryTrigger',
        summary: 'Try a message',
        description: 'Tells what a message would start now. Nothing is stored and nothing is started.',
        path: ADDRESSED,
        body: triggerTrial,
        example: { body: { id: 'order-42' }, type: 'order.created' },
        answers: { 200: json('The outcome.', triedView, PRIVATE) },
        errors: ADDRESS_ERRORS,
      },
      async serve(call) {
        const { body, type } = parse(triggerTrial, call.json);
        const trigger = await managedTrigger(store, call.principal, triggerIn(call));
        return ok(await tryMessage(options, trigger, { body, type }));
      },
    }),
    mountRoute({
      method: 'GET',
      path: '/triggers/{triggerId}/messages',
      scope,
      describes: {
        operationId: 'listTriggerMessages',
        summary: 'List the last messages',
        description: 'The messages that the host knows, newest first, without their content.',
        path: ADDRESSED,
        query: { limit: LIMIT, before: z.string().optional().describe('The `nextBefore` of the previous page.') },
        answers: { 200: json('A page of messages.', messagePage, PRIVATE) },
        errors: ADDRESS_ERRORS,
      },
      async serve(call) {
        const trigger = await managedTrigger(store, call.principal, triggerIn(call));
        const limit = pageLimit(call.query);
        const found = await store.triggers.messages(trigger.triggerId, {
          before: pageIdIn(call, 'before'),
          limit: limit + 1,
          now: await storeClock.read(),
        });
        const messages = found.slice(0, limit).map((message) => messageBody(trigger, message));
        return ok({ messages, ...(found.length > limit && { nextBefore: messages.at(-1)?.deliveryId }) });
      },
    }),
    mountRoute({
      method: 'POST',
      path: '/triggers/{triggerId}/dead-letters/redrive',
      scope,
      takesBody: true,
      describes: {
        operationId: 'redriveTrigger',
        summary: 'Redrive dead letters of a trigger',
        description:
          'Attempts dead letters again: the named ones, or the newest 500. Needs `runs:create`, too. They keep their ids, so ' +
          'none starts two runs.',
        path: ADDRESSED,
        body: triggerRedrive,
        example: {},
        answers: { 200: json('The messages are due again.', redrivenMessages, PRIVATE) },
        errors: STATE_ERRORS,
      },
      // Safe without an idempotency key: a repeated redrive finds only messages that were dead-lettered again since.
      async serve(call) {
        const starter = await call.permit(START_SCOPE);
        const { deliveryIds } = parse(triggerRedrive, call.json);
        const bare = deliveryIds?.map((id) => bareId(id, call));
        return ok({ redriven: await redriveTrigger(options, starter, triggerIn(call), bare) });
      },
    }),
  ];
}

async function bodyOf(options: TriggerMountOptions, trigger: Trigger): Promise<JsonObject> {
  const [body = {}] = await bodiesOf(options, [trigger]);
  return body;
}

/** The triggers as they are shown, with the readings of their sources. */
async function bodiesOf(
  { store, ingestUrl }: TriggerMountOptions,
  triggers: readonly Trigger[],
): Promise<readonly JsonObject[]> {
  const read = triggers
    .filter(({ source }) => source === 'stream' || source === 'change')
    .map(({ triggerId }) => triggerId);
  const found = read.length === 0 ? [] : await store.triggers.places(read);
  const places = new Map(found.map((place) => [place.triggerId, place]));
  return triggers.map((trigger) => triggerBody(trigger, ingestUrl(trigger), places.get(trigger.triggerId)));
}

const SIGNALS = {
  pause: {
    summary: 'Pause a trigger',
    description:
      'Stores further messages without a run, until it is resumed. A schedule skips its occurrences meanwhile.',
  },
  resume: {
    summary: 'Resume a trigger',
    description: 'Starts the runs of the messages that were stored since the pause.',
  },
} as const;
