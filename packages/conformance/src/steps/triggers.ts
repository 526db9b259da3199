import { createHmac, randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { body } from '../expect.ts';
import { NOOP, workflowId } from '../fixtures.ts';
import type { Answer } from '../http/answer.ts';
import { bareId, segment } from '../shapes/id.ts';
import { registeredTrigger, takenMessage, triggerView } from '../shapes/trigger.ts';
import { mountPath } from '../target.ts';
import type { World } from '../world.ts';

/** A trigger of the suite, whose sender signs its messages with an HMAC. */
export interface Registered {
  readonly subscriptionId: string;
  /** The path to which messages are posted. */
  readonly ingestPath: string;
  readonly secret: string;
  readonly answer: Answer;
}

/** Registers a trigger of the source `webhook` that starts runs of the fixture without work. It is deleted afterwards. */
export async function registerTrigger(world: World, fields: object = {}): Promise<Registered> {
  const secret = randomBytes(32).toString('hex');
  world.conceal(secret);
  const answer = await world.api.post('/trigger-subscriptions', { ...registration(world), secret, ...fields });
  const { subscription, binding } = body(answer, 201, registeredTrigger[world.major]);
  const { subscriptionId } = subscription;
  if (mountPath(world.target, world.major, 'triggers') !== undefined)
    world.afterwards((after) => after.api.delete(triggerPath(after, subscriptionId)));
  return { subscriptionId, ingestPath: new URL(binding.ingestUrl).pathname, secret, answer };
}

/** The body of a registration, without a secret. */
export function registration({ target, tag }: Pick<World, 'target' | 'tag'>): Record<string, unknown> {
  return {
    source: 'webhook',
    ...(target.workspace !== undefined && { tenantId: target.workspace }),
    mapping: {
      workflowId: workflowId(target, NOOP),
      inputs: { order: { pointer: '/body/order' }, suite: { constant: tag } },
    },
    webhook: { preset: 'github' },
  };
}

/** The path of a trigger at the mount of its operators. */
export function triggerPath({ target, major }: Pick<World, 'target' | 'major'>, id: string, suffix = ''): string {
  return `${mountPath(target, major, 'triggers')}/${segment(id)}${suffix}`;
}

/** Reads a trigger. */
export async function readTrigger(world: World, id: string): Promise<z.infer<(typeof triggerView)[1]>> {
  return body(await world.api.get(triggerPath(world, id)), 200, triggerView[world.major]);
}

/** Posts a message as its sender, who has no credential of the host. */
export function post(world: World, trigger: Registered, message: object, secret = trigger.secret): Promise<Answer> {
  const text = JSON.stringify(message);
  const signature = createHmac('sha256', secret).update(text).digest('hex');
  return world.as('nobody').exactly({
    method: 'POST',
    target: trigger.ingestPath,
    headers: {
      'Content-Type': 'application/json',
      'X-GitHub-Event': 'push',
      'X-Hub-Signature-256': `sha256=${signature}`,
    },
    body: text,
  });
}

/** Posts a message that must be taken. */
export async function send(world: World, trigger: Registered, message: object) {
  const answer = await post(world, trigger, message);
  return { answer, ...body(answer, answer.status === 200 ? 200 : 202, takenMessage[world.major]) };
}

/** Whether two ids name one resource, in the form of either major. */
export function isSameId(one: string, other: string | undefined): boolean {
  return other !== undefined && bareId(one) === bareId(other);
}
