import { z } from 'zod';
import { area, type Need, type RunnableCheck } from '../check.ts';
import { body, fits, holds, refused, same, status } from '../expect.ts';
import { NOOP, workflowId } from '../fixtures.ts';
import type { Answer } from '../http/answer.ts';
import { capability, fixture, key, mount, scopes, unadvertised, workspace } from '../needs.ts';
import { segment, unknownId } from '../shapes/id.ts';
import { triggerBridge, triggerDeadLetters, triggerView } from '../shapes/trigger.ts';
import { logOf } from '../steps/runs.ts';
import {
  isSameId,
  post,
  type Registered,
  readTrigger,
  registerTrigger,
  registration,
  send,
  triggerPath,
} from '../steps/triggers.ts';
import { advertised, mountPath } from '../target.ts';
import type { World } from '../world.ts';

const BRIDGE = 'States and transitions: Durable subscription (trigger bridge)';

/** The suite signs messages for the source `webhook`. */
const webhooks: Need = (target, major) => {
  const sources = advertised(target, major, 'triggerBridge')?.sources;
  return Array.isArray(sources) && sources.includes('webhook')
    ? undefined
    : 'triggerBridge.sources of the host do not list webhook';
};
const USABLE: readonly Need[] = [webhooks, scopes('webhooks:manage', 'runs:create'), fixture(NOOP), workspace];
const OPERATED: readonly Need[] = [...USABLE, mount('triggers')];

/** The rules of the interface about triggers: the registration, the record, and the dead letters. */
const ofTheInterface: readonly RunnableCheck[] = area('triggers', {}, [
  {
    id: 'unadvertised',
    name: 'A host that does not advertise `triggerBridge` answers 501 under major 1, and 404 under major 2.',
    rule: ['Discovery document (capabilities)', 'discovery.document.advertise-only-served'],
    needs: [unadvertised('triggerBridge'), scopes('webhooks:manage')],
    async run(world) {
      const { api, major, target } = world;
      const id = segment(unknownId(major, target.tenant));
      for (const answer of [
        await api.post('/trigger-subscriptions', registration(world)),
        await api.get(`/trigger-subscriptions/${id}/dead-letters`),
      ]) {
        if (major === 1) refused(answer, 501, 'capability_not_provided');
        else refused(answer, 404, 'not_found');
      }
    },
  },
  {
    id: 'discovery',
    name: '`triggerBridge` names the sources, the deduplication, the retries, the dead letters and the ingestion.',
    rule: [BRIDGE, 'triggers.subscription.discovery'],
    needs: [capability('triggerBridge')],
    async run({ target, major }) {
      fits(advertised(target, major, 'triggerBridge'), triggerBridge);
    },
  },
  {
    id: 'registered',
    name: 'A registration is answered 201 with the record and its binding, and shows a generated secret alone.',
    rule: [BRIDGE, 'triggers.subscription.registration'],
    needs: USABLE,
    async run(world) {
      const brought = await registerTrigger(world);
      const { answer } = brought;
      holds(!answer.text.includes(brought.secret), 'a body without the secret of the sender', 'the secret', answer);
      const minted = await registerTrigger(world, { secret: undefined });
      const { subscription, secret } = JSON.parse(minted.answer.text);
      same([subscription.source, subscription.state], ['webhook', 'active'], 'source and state', minted.answer);
      holds(typeof secret === 'string', 'a generated secret', 'none', minted.answer);
      world.conceal(secret);
    },
  },
  {
    id: 'bad-body-400',
    name: 'A registration with an unknown source, without a mapping, or with code in it is answered 400.',
    rule: [BRIDGE, 'triggers.mapping.closed'],
    needs: USABLE,
    async run(world) {
      const good = registration(world);
      const workflow = workflowId(world.target, NOOP);
      for (const fields of [
        { source: 'conformance' },
        { source: undefined },
        { mapping: undefined },
        { mapping: { workflowId: workflow, inputs: { order: { expression: 'body.order' } } } },
        { mapping: { workflowId: workflow, inputs: { order: { pointer: 'body.order' } } } },
        { conformanceUnknownMember: true },
      ]) {
        refused(await world.api.post('/trigger-subscriptions', { ...good, ...fields }), 400, 'validation_error');
      }
    },
  },
  {
    id: 'scope',
    name: 'A trigger is registered only by a key with `webhooks:manage`.',
    rule: ['Endpoints', 'operations.routes.required-scope'],
    needs: [...USABLE, key('readOnly')],
    async run(world) {
      refused(await world.as('readOnly').post('/trigger-subscriptions', registration(world)), 403, 'forbidden');
    },
  },
]);

/** Messages: a signed one starts a run, once; another one starts none. */
const ofMessages: readonly RunnableCheck[] = area('triggers', { needs: USABLE }, [
  {
    id: 'causation',
    name: 'A signed message starts a run, whose `run.started` has the id of the delivery as `causationId`.',
    rule: [BRIDGE, 'triggers.message.causation'],
    needs: [scopes('runs:read')],
    async run(world) {
      const trigger = await registerTrigger(world);
      const { answer, deliveryId, runId = '', outcome } = await send(world, trigger, { order: world.tag });
      same(outcome, 'delivered', 'the outcome', answer);
      const [started] = await world.eventually('the log of the run', async () => {
        const log = await logOf(world, runId);
        return log.length > 0 ? log : undefined;
      });
      const { causationId } = fits(started, CAUSED);
      holds(isSameId(deliveryId, causationId), `causationId to be ${deliveryId}`, causationId);
    },
  },
  {
    id: 'dedup',
    name: 'The same message again starts no second run, and is answered with the id of the first one.',
    rule: [BRIDGE, 'triggers.message.dedup'],
    async run(world) {
      const trigger = await registerTrigger(world);
      const first = await send(world, trigger, { order: world.tag });
      for (let n = 0; n < 2; n++) {
        const again = await send(world, trigger, { order: world.tag });
        same([again.runId, again.repeated], [first.runId, true], 'runId and repeated', again.answer);
      }
      const other = await send(world, trigger, { order: `${world.tag} other` });
      holds(other.runId !== first.runId, 'another run for another message', String(other.runId), other.answer);
    },
  },
  {
    id: 'signature-refused',
    name: 'A message whose signature does not verify is refused, and starts no run.',
    rule: [BRIDGE, 'triggers.webhook.signature'],
    async run(world) {
      const trigger = await registerTrigger(world);
      refused(await post(world, trigger, { order: world.tag }, 'another secret of a sender'), 401);
      // Had the forged one been taken, this would be its repetition.
      const { answer, repeated } = await send(world, trigger, { order: world.tag });
      same(repeated, false, 'repeated', answer);
    },
  },
  {
    id: 'dead-letter',
    name: 'A message that does not fit the mapping is listed as a dead letter, without its content.',
    rule: [BRIDGE, 'triggers.message.dead-letters'],
    async run(world) {
      const trigger = await registerTrigger(world);
      const { answer: none } = await lettersOf(world, trigger);
      same(JSON.parse(none.text), { deliveries: [] }, 'the page before the message', none);
      const sent = await send(world, trigger, { unmapped: world.tag });
      same([sent.outcome, sent.runId], ['dead-lettered', undefined], 'outcome and runId', sent.answer);
      const { answer, letters } = await lettersOf(world, trigger);
      same(letters.length, 1, 'the number of dead letters', answer);
      const { attemptEventId = '', subscriptionId = '' } = letters[0] ?? {};
      same([attemptEventId, subscriptionId], [sent.deliveryId, trigger.subscriptionId], 'the ids', answer);
      holds(!answer.text.includes(world.tag), 'a page without the content of the message', 'the content', answer);
    },
  },
  {
    id: 'dead-letters-apart',
    name: 'Dead letters of a trigger are not served to another tenant, nor those of an unknown trigger.',
    rule: [BRIDGE, 'triggers.subscription.tenancy'],
    needs: [key('otherTenant')],
    async run(world) {
      const { major, target, api } = world;
      const { subscriptionId } = await registerTrigger(world);
      const answer = await world.as('otherTenant').get(lettersPath(subscriptionId));
      if (major === 1) refused(answer, 404, 'not_found');
      else refused(answer, 403, 'id_tenant_mismatch');
      refused(await api.get(lettersPath(unknownId(major, target.tenant))), 404, 'not_found');
    },
  },
]);

/** The operations of operators, at the mount `triggers`. */
const ofOperators: readonly RunnableCheck[] = area('triggers', { needs: OPERATED }, [
  {
    id: 'read',
    name: 'A read trigger has what was registered, and no secret.',
    rule: [BRIDGE, 'triggers.subscription.registration'],
    async run(world) {
      const { subscriptionId, secret } = await registerTrigger(world, { description: world.tag });
      const answer = await world.api.get(triggerPath(world, subscriptionId));
      const trigger = body(answer, 200, triggerView[world.major]);
      const { mapping } = registration(world);
      same(
        [trigger.subscriptionId, trigger.source, trigger.state, trigger.description, trigger.mapping],
        [subscriptionId, 'webhook', 'active', world.tag, mapping],
        'the id, the source, the state, the description and the mapping',
        answer,
      );
      holds(!answer.text.includes(secret), 'a body without the secret', 'the secret', answer);
    },
  },
  {
    id: 'listed',
    name: 'Each trigger of the caller is in one page of the list.',
    rule: { section: BRIDGE, source: 'own' },
    async run(world) {
      const registered = [await registerTrigger(world), await registerTrigger(world)];
      const listed = await everyId(world);
      for (const { subscriptionId } of registered) {
        const times = listed.filter((id) => isSameId(id, subscriptionId)).length;
        same(times, 1, `the times that ${subscriptionId} is listed`);
      }
    },
  },
  {
    id: 'paused',
    name: 'A pause and a resume move a trigger between `active` and `paused`, and a repetition changes nothing.',
    rule: [BRIDGE, 'triggers.subscription.states'],
    async run(world) {
      const { subscriptionId } = await registerTrigger(world);
      for (const [signal, state] of [
        ['pause', 'paused'],
        ['pause', 'paused'],
        ['resume', 'active'],
        ['resume', 'active'],
      ] as const) {
        const answer = await world.api.post(triggerPath(world, subscriptionId, `/${signal}`));
        same(body(answer, 200, triggerView[world.major]).state, state, `the state after ${signal}`, answer);
        same((await readTrigger(world, subscriptionId)).state, state, 'the state that is read');
      }
    },
  },
  {
    id: 'state-not-set',
    name: 'No request sets another state: an edit of `state` is answered 400, and an unknown transition 404.',
    rule: [BRIDGE, 'triggers.subscription.states'],
    async run(world) {
      const { subscriptionId } = await registerTrigger(world);
      for (const state of ['paused', 'failed', 'dead-lettered']) {
        const edit = await world.api.call('PATCH', triggerPath(world, subscriptionId), { body: { state } });
        refused(edit, 400, 'validation_error');
      }
      for (const signal of ['fail', 'exhaust'])
        refused(await world.api.post(triggerPath(world, subscriptionId, `/${signal}`)), 404, 'not_found');
      same((await readTrigger(world, subscriptionId)).state, 'active', 'the state');
    },
  },
  {
    id: 'refused-keeps-state',
    name: 'A refused message does not change the state of its trigger.',
    rule: [BRIDGE, 'triggers.message.refused-keeps-state'],
    async run(world) {
      const trigger = await registerTrigger(world);
      for (let n = 0; n < 12; n++) await send(world, trigger, { unmapped: `${world.tag} ${n}` });
      same((await readTrigger(world, trigger.subscriptionId)).state, 'active', 'the state');
    },
  },
  {
    id: 'paused-keeps',
    name: 'A message of a paused trigger starts its run after the resume, and not before.',
    rule: [BRIDGE, 'triggers.message.durable'],
    async run(world) {
      const trigger = await registerTrigger(world);
      status(await world.api.post(triggerPath(world, trigger.subscriptionId, '/pause')), 200);
      const { answer, outcome, runId } = await send(world, trigger, { order: world.tag });
      same([outcome, runId], ['retrying', undefined], 'outcome and runId', answer);
      status(await world.api.post(triggerPath(world, trigger.subscriptionId, '/resume')), 200);
      await world.eventually('the message to be delivered', async () => {
        const [message] = await messagesOf(world, trigger);
        return message?.outcome === 'delivered' || undefined;
      });
    },
  },
  {
    id: 'trial',
    name: 'A trial tells the run that a message would start, and neither stores nor starts anything.',
    rule: [BRIDGE, 'triggers.subscription.trial'],
    async run(world) {
      const trigger = await registerTrigger(world);
      const path = triggerPath(world, trigger.subscriptionId, '/try');
      const answer = await world.api.post(path, { body: { order: world.tag } });
      const inputs = { order: world.tag, suite: world.tag };
      const would = { would: 'start', workflowId: workflowId(world.target, NOOP), inputs };
      same(body(answer, 200, z.looseObject({})), would, 'the outcome', answer);
      const unfit = await world.api.post(path, { body: {} });
      same(body(unfit, 200, z.looseObject({ would: z.string() })).would, 'dead-letter', 'the outcome', unfit);
      same(await messagesOf(world, trigger), [], 'the messages');
      const { answer: letters } = await lettersOf(world, trigger);
      same(JSON.parse(letters.text), { deliveries: [] }, 'the dead letters', letters);
      const { answer: sent, repeated } = await send(world, trigger, { order: world.tag });
      same(repeated, false, 'repeated, for the first message', sent);
    },
  },
  {
    id: 'deleted',
    name: 'A deleted trigger is not found, and takes no message.',
    rule: [BRIDGE, 'triggers.subscription.tenancy'],
    async run(world) {
      const trigger = await registerTrigger(world);
      const path = triggerPath(world, trigger.subscriptionId);
      status(await world.api.delete(path), 204);
      for (const answer of [
        await world.api.get(path),
        await world.api.post(`${path}/pause`),
        await world.api.post(`${path}/try`, { body: {} }),
        await world.api.delete(path),
        await post(world, trigger, { order: world.tag }),
      ])
        refused(answer, 404, 'not_found');
    },
  },
  {
    id: 'operator-scope',
    name: 'Triggers are shown and changed only for a key with `webhooks:manage`.',
    rule: ['Endpoints', 'operations.routes.required-scope'],
    needs: [key('readOnly')],
    async run(world) {
      const { subscriptionId } = await registerTrigger(world);
      const reader = world.as('readOnly');
      for (const answer of [
        await reader.get(`${mountPath(world.target, world.major, 'triggers')}`),
        await reader.get(triggerPath(world, subscriptionId)),
        await reader.post(triggerPath(world, subscriptionId, '/pause')),
        await reader.post(triggerPath(world, subscriptionId, '/try'), { body: {} }),
        await reader.delete(triggerPath(world, subscriptionId)),
      ])
        status(answer, 403);
      same((await readTrigger(world, subscriptionId)).state, 'active', 'the state');
    },
  },
  ...(
    [
      ['tenant-apart', 'otherTenant', 'another tenant', [403, 404]],
      ['workspace-apart', 'otherWorkspace', 'another workspace', [403, 404]],
      ['test-live-apart', 'test', 'the other mode', [404]],
    ] as const
  ).map(([id, caller, whom, statuses]) => ({
    id,
    name: `A trigger is neither shown to a key of ${whom}, nor changed by it.`,
    rule: [BRIDGE, 'triggers.subscription.tenancy'] as const,
    needs: [key(caller)],
    async run(world: World) {
      const { subscriptionId } = await registerTrigger(world);
      const other = world.as(caller);
      const path = triggerPath(world, subscriptionId);
      for (const answer of [await other.get(path), await other.post(`${path}/pause`), await other.delete(path)])
        status(answer, ...statuses);
      const list = body(await other.get(`${mountPath(world.target, world.major, 'triggers')}`), 200, LIST);
      const isListed = list.triggers.some((listed) => isSameId(listed.subscriptionId, subscriptionId));
      holds(!isListed, 'a list without the trigger', subscriptionId);
      same((await readTrigger(world, subscriptionId)).state, 'active', 'the state');
    },
  })),
]);

/** Triggers: runs that messages of other systems start. */
export const triggers: readonly RunnableCheck[] = [...ofTheInterface, ...ofMessages, ...ofOperators];

const CAUSED = z.looseObject({ causationId: z.string().min(1) });
const LIST = z.looseObject({
  triggers: z.array(z.looseObject({ subscriptionId: z.string() })),
  nextAfter: z.string().optional(),
});
const MESSAGES = z.looseObject({ messages: z.array(z.looseObject({ outcome: z.string() })) });

function lettersPath(id: string): string {
  return `/trigger-subscriptions/${segment(id)}/dead-letters`;
}

async function lettersOf(world: World, { subscriptionId }: Registered) {
  const answer: Answer = await world.api.get(lettersPath(subscriptionId));
  return { answer, letters: body(answer, 200, triggerDeadLetters[world.major]).deliveries };
}

async function messagesOf(world: World, { subscriptionId }: Registered) {
  return body(await world.api.get(triggerPath(world, subscriptionId, '/messages')), 200, MESSAGES).messages;
}

/** The ids of all triggers, page by page. */
async function everyId(world: World): Promise<string[]> {
  const path = `${mountPath(world.target, world.major, 'triggers')}`;
  const ids: string[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = body(await world.api.get(path, { query: { limit: 1, ...(after && { after }) } }), 200, LIST);
    ids.push(...page.triggers.map(({ subscriptionId }) => subscriptionId));
    after = page.nextAfter;
    if (after === undefined) return ids;
  }
  return ids;
}

const MOST_PAGES = 2000;
