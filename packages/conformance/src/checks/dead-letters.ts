import { area, type RunnableCheck } from '../check.ts';
import { body, holds, refused, same, status } from '../expect.ts';
import { NOOP } from '../fixtures.ts';
import { type Answer, described } from '../http/answer.ts';
import { deliveries, durable, exhaustible, fixture, key, scopes, workspace } from '../needs.ts';
import { unknownId } from '../shapes/id.ts';
import { deadLetters as page } from '../shapes/webhook.ts';
import { endedRun } from '../steps/runs.ts';
import {
  arrivalOf,
  arrived,
  COMPLETED,
  placeOf,
  QUIET_MS,
  register,
  SILENT_URL,
  type Subscribed,
  subscribe,
} from '../steps/webhooks.ts';
import { advertised, isRecord, maxAttemptsOf, type Target } from '../target.ts';
import type { World } from '../world.ts';

const SINK = 'Events: Webhook delivery of events';

/** Dead letters: failed deliveries, listed for the owner of the subscription without their content. */
export const deadLetters: readonly RunnableCheck[] = area(
  'dead-letters',
  { needs: [scopes('webhooks:manage', 'runs:create', 'runs:read'), workspace, fixture(NOOP), durable, hasSink] },
  [
    {
      id: 'empty',
      name: 'A subscription without dead letters has an empty page of them.',
      rule: [SINK, 'webhooks.dead-letters.listed'],
      async run(world) {
        const { webhookId } = await register(world, world.api, { url: SILENT_URL, events: [COMPLETED] });
        const answer = await list(world, { webhookId });
        same(body(answer, 200, page[world.major]), { deliveries: [] }, 'the page', answer);
      },
    },
    {
      id: 'exhausted-to-sink',
      name: 'A delivery whose attempts are exhausted is listed with its ids, attempts, reason and last status.',
      rule: [SINK, 'webhooks.durable.exhausted-to-sink'],
      needs: [deliveries, exhaustible],
      async run(world) {
        const subscribed = await subscribe(world, { answers: [500] });
        const { runId } = await endedRun(world);
        const { answer, letters } = await lettersOf(world, subscribed, 1);
        const [letter] = letters;
        same(
          [letter?.runId, letter?.webhookId, letter?.eventType, letter?.reason, letter?.lastStatus],
          [runId, subscribed.webhookId, COMPLETED, 'retries_exhausted', 500],
          'runId, webhookId, eventType, reason and lastStatus',
          answer,
        );
        same(letter?.attempts, maxAttemptsOf(world.target), 'attempts', answer);
        holds(!answer.text.includes(subscribed.secret), 'a body without the secret', 'the secret in the body', answer);
      },
    },
    {
      id: 'retention',
      name: '`expiresAt` of a dead letter is `retentionDays` after `deadLetteredAt`.',
      rule: [SINK, 'webhooks.dead-letters.retention'],
      needs: [deliveries, exhaustible],
      async run(world) {
        const subscribed = await subscribe(world, { answers: [500] });
        await endedRun(world);
        const { answer, letters } = await lettersOf(world, subscribed, 1);
        const { deadLetteredAt = '', expiresAt = '' } = letters[0] ?? {};
        const days = (Date.parse(expiresAt) - Date.parse(deadLetteredAt)) / DAY_MS;
        const expected = retentionDaysOf(world.target);
        holds(
          Math.abs(days - (expected ?? days)) < 0.001 && days > 0,
          `expiresAt to be ${expected ?? 'some'} days after deadLetteredAt`,
          `${days} days`,
          answer,
        );
      },
    },
    {
      id: 'newest-first',
      name: 'Dead letters are listed newest first, and `nextCursor` leads to the next page.',
      rule: [SINK, 'webhooks.dead-letters.listed'],
      needs: [deliveries, exhaustible],
      async run(world) {
        const subscribed = await subscribe(world, { answers: [500] });
        const older = await endedRun(world);
        await lettersOf(world, subscribed, 1);
        const newer = await endedRun(world);
        const { letters } = await lettersOf(world, subscribed, 2);
        same(
          letters.map(({ runId }) => runId),
          [newer.runId, older.runId],
          'the runs of the dead letters',
        );
        const first = await list(world, subscribed, { limit: 1 });
        const {
          deliveries: [one],
          nextCursor = '',
        } = body(first, 200, page[world.major]);
        holds(nextCursor !== '', 'a nextCursor on the first of two pages', described(first), first);
        const second = await list(world, subscribed, { limit: 1, cursor: nextCursor });
        const {
          deliveries: [other],
        } = body(second, 200, page[world.major]);
        same([one?.runId, other?.runId], [newer.runId, older.runId], 'the runs of the two pages', second);
      },
    },
    {
      id: 'foreign-cursor-400',
      name: 'A cursor that was not issued for this subscription is answered 400.',
      rule: [SINK, 'webhooks.dead-letters.listed'],
      needs: [deliveries, exhaustible],
      async run(world) {
        const [one, other] = [await subscribe(world, { answers: [500] }), await subscribe(world)];
        await endedRun(world);
        await endedRun(world);
        await lettersOf(world, one, 2);
        const answer = await list(world, one, { limit: 1 });
        const { nextCursor = '' } = body(answer, 200, page[world.major]);
        for (const cursor of ['conformance', nextCursor]) {
          refused(await list(world, other, { cursor }), 400, 'validation_error');
        }
      },
    },
    {
      id: 'failed-to-sink',
      name: 'An event for a failed subscription becomes a dead letter without an attempt.',
      rule: ['Durable subscription (trigger bridge)', 'webhooks.durable.failed-to-sink'],
      needs: [deliveries],
      async run(world) {
        const subscribed = await subscribe(world, { answers: [410] });
        const first = await endedRun(world);
        await arrivalOf(world, subscribed, first.runId);
        await world.sleep(QUIET_MS);
        const second = await endedRun(world);
        await world.eventually('the second delivery to be a dead letter', async () => {
          const { deliveries: letters } = body(await list(world, subscribed), 200, page[world.major]);
          return letters.some(({ runId }) => runId === second.runId) || undefined;
        });
        same(subscribed.inbox.arrivals.length, 1, 'the number of attempts for two events');
      },
    },
    {
      id: 'unknown-404',
      name: 'Dead letters of an unknown or unregistered subscription are answered 404.',
      rule: [SINK, 'webhooks.dead-letters.listed'],
      async run(world) {
        refused(await list(world, { webhookId: unknownId(world.major, world.target.tenant) }), 404, 'not_found');
        const { webhookId } = await register(world, world.api, { url: SILENT_URL, events: [COMPLETED] });
        status(await world.api.delete(placeOf(world, world.major, webhookId)), 204);
        refused(await list(world, { webhookId }), 404, 'not_found');
      },
    },
    {
      id: 'tenant-apart',
      name: 'Dead letters are not served to another tenant.',
      rule: ['Authorization rules', 'auth.tenancy.tenant-apart'],
      needs: [key('otherTenant')],
      async run(world) {
        const { webhookId } = await register(world, world.api, { url: SILENT_URL, events: [COMPLETED] });
        const answer = await world.as('otherTenant').get(placeOf(world, world.major, webhookId, '/dead-letters'));
        if (world.major === 1) status(answer, 403, 404);
        else refused(answer, 403, 'id_tenant_mismatch');
      },
    },
    {
      id: 'scope',
      name: 'Dead letters are answered 403 to a key without `webhooks:manage`.',
      rule: ['Endpoints', 'operations.routes.required-scope'],
      needs: [key('readOnly')],
      async run(world) {
        const { webhookId } = await register(world, world.api, { url: SILENT_URL, events: [COMPLETED] });
        const answer = await world.as('readOnly').get(placeOf(world, world.major, webhookId, '/dead-letters'));
        refused(answer, 403, 'forbidden');
      },
    },
  ],
);

const DAY_MS = 86_400_000;

function list(
  world: World,
  { webhookId }: Pick<Subscribed, 'webhookId'>,
  query: Record<string, string | number> = {},
): Promise<Answer> {
  const { major, target } = world;
  const place = placeOf(world, 2, webhookId, '/dead-letters');
  const named = major === 1 ? { tenantId: target.workspace ?? '' } : {};
  return world.api.get(place, { query: { ...named, ...query } });
}

/** Waits until a subscription has `count` dead letters. */
async function lettersOf(world: World, subscribed: Subscribed, count: number) {
  const most = maxAttemptsOf(world.target) ?? 1;
  await arrived(world, subscribed, count * most, world.target.patienceMs * 2);
  return world.eventually(`${count} dead letters to be listed`, async () => {
    const answer = await list(world, subscribed);
    const { deliveries: letters } = body(answer, 200, page[world.major]);
    return letters.length >= count ? { answer, letters } : undefined;
  });
}

/** Dead letters may be advertised by major 2 alone; they are then served for durable deliveries of major 1 too. */
function hasSink(target: Target): string | undefined {
  return retentionDaysOf(target) === undefined ? 'the host does not advertise webhooks.deadLetter' : undefined;
}

function retentionDaysOf(target: Target): number | undefined {
  const records = [advertised(target, 2, 'webhooks'), advertised(target, 1, 'webhooks')];
  const found = records.map((record) => record?.deadLetter).find(isRecord)?.retentionDays;
  return typeof found === 'number' ? found : undefined;
}
