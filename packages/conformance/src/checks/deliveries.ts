import { area, type RunnableCheck } from '../check.ts';
import { holds, same, shown } from '../expect.ts';
import { NOOP } from '../fixtures.ts';
import { fixture, key, overlap, deliveries as received, scopes, workspace } from '../needs.ts';
import { carries, familyOf, verify } from '../receiver/signature.ts';
import { bareId } from '../shapes/id.ts';
import { endedRun, logOf } from '../steps/runs.ts';
import {
  arrivalOf,
  arrived,
  COMPLETED,
  deliveredIn,
  isAbout,
  QUIET_MS,
  runsIn,
  settled,
  subscribe,
} from '../steps/webhooks.ts';
import { isDurable } from '../target.ts';
import type { World } from '../world.ts';

const RULES = 'Webhook delivery rules (both majors)';
const HEADERS = 'Webhook delivery rules: headers';
const BODY = 'Webhook delivery body';
const EVENTS = 'Events: Webhook delivery of events';

/** Recipients, signature, headers and body of deliveries, best-effort and durable. */
export const deliveries: readonly RunnableCheck[] = area(
  'deliveries',
  { needs: [scopes('webhooks:manage', 'runs:create', 'runs:read'), workspace, fixture(NOOP), received] },
  [
    {
      id: 'signed',
      name: 'The signature covers the timestamp, a dot and the exact body, keyed by the secret as it was issued.',
      rule: ['Subscriber verification recipe', 'webhooks.signature.signed-bytes'],
      async run(world) {
        const subscribed = await subscribe(world);
        const { runId } = await endedRun(world);
        const arrival = await arrivalOf(world, subscribed, runId);
        verify(arrival, carries(arrival, 'SVC') ? 'SVC' : 'X-svc', subscribed.secret);
      },
    },
    {
      id: 'header-values',
      name: 'The headers have the subscription id, the event type, the time of signing and the algorithm `v1`.',
      rule: [HEADERS, 'webhooks.headers.values'],
      async run(world) {
        const subscribed = await subscribe(world);
        const { runId } = await endedRun(world);
        const arrival = await arrivalOf(world, subscribed, runId);
        const family = carries(arrival, 'SVC') ? 'SVC' : 'X-svc';
        const { webhookId, eventType, algorithm, signature } = familyOf(arrival, family);
        same(
          [webhookId, eventType, algorithm],
          [subscribed.webhookId, COMPLETED, 'v1'],
          'id, event type and algorithm',
        );
        holds(
          /^sha256=[0-9a-f]{64}$/.test(signature),
          'a signature of sha256= and 64 lower-case hexadecimal characters',
          signature,
        );
        const { timestamp } = familyOf(arrival, family);
        const away = Math.abs(arrival.at / 1000 - Number(timestamp));
        holds(away < 10, 'a timestamp within 10 s of the arrival', `one ${Math.round(away)} s away`);
      },
    },
    {
      id: 'header-families',
      name: 'A host of both majors sends `SVC-` and `X-svc-` headers with equal values; of one major, its own family.',
      rule: [HEADERS, 'webhooks.headers.overlap-sends-both'],
      async run(world) {
        const subscribed = await subscribe(world);
        const { runId } = await endedRun(world);
        const arrival = await arrivalOf(world, subscribed, runId);
        const { majors } = world.target;
        if (majors.length === 2)
          same(familyOf(arrival, 'SVC'), familyOf(arrival, 'X-svc'), 'the values of the SVC- headers');
        else if (majors.includes(1)) familyOf(arrival, 'X-svc');
        else {
          familyOf(arrival, 'SVC');
          holds(!carries(arrival, 'X-svc'), 'no header of major 1', shown([...arrival.headers.keys()]));
        }
      },
    },
    {
      id: 'request',
      name: 'A delivery is a POST of `application/json` with the `User-Agent` `svc-webhook-dispatcher/<version>`.',
      rule: [RULES, 'webhooks.delivery.request-headers'],
      async run(world) {
        const subscribed = await subscribe(world);
        const { runId } = await endedRun(world);
        const { method, headers } = await arrivalOf(world, subscribed, runId);
        same(method, 'POST', 'the method');
        const [type = '', agent = ''] = [headers.get('content-type')?.[0], headers.get('user-agent')?.[0]];
        holds(/^application\/json\s*(?:;|$)/.test(type), 'Content-Type: application/json', type);
        holds(/^svc-webhook-dispatcher\/\S+$/.test(agent), 'User-Agent: svc-webhook-dispatcher/<version>', agent);
      },
    },
    {
      id: 'body',
      name: "The body is `{ runId, workspaceId, event }`, with ids and types in the form of the subscription's major.",
      rule: [BODY, 'webhooks.body.vocabulary-of-registration'],
      async run(world) {
        const subscribed = await subscribe(world);
        const { runId } = await endedRun(world);
        const delivered = deliveredIn(await arrivalOf(world, subscribed, runId), world.major, subscribed.secret);
        same([delivered.runId, delivered.event.runId], [runId, runId], 'runId of the body and of the event');
      },
    },
    {
      id: 'workspace-id',
      name: '`workspaceId` is the workspace of the run; major 2 omits it when the owner has none.',
      rule: [BODY, 'webhooks.body.v2-workspace-id-iff-owned'],
      async run(world) {
        const subscribed = await subscribe(world);
        const { runId, owner } = await endedRun(world);
        const delivered = deliveredIn(await arrivalOf(world, subscribed, runId), world.major, subscribed.secret);
        if (world.major === 1) same(delivered.workspaceId, world.target.workspace, 'workspaceId');
        else same(delivered.workspaceId, owner?.workspace, 'workspaceId');
      },
    },
    {
      id: 'event-verbatim',
      name: 'The event in a delivery equals the event in the log.',
      rule: [BODY, 'webhooks.body.event-verbatim'],
      async run(world) {
        const subscribed = await subscribe(world, { events: ['run.started'] });
        const { runId } = await endedRun(world);
        const { event } = deliveredIn(await arrivalOf(world, subscribed, runId), world.major, subscribed.secret);
        const [started] = await logOf(world, runId);
        same(event, started, 'the event');
      },
    },
    {
      id: 'both-majors-delivered',
      name: 'Subscriptions of both majors get the same event, each in the form of its own major.',
      rule: [BODY, 'webhooks.body.vocabulary-of-registration'],
      majors: [2],
      needs: [overlap],
      async run(world) {
        const [one, two] = [await subscribe(world, { api: world.under(1) }), await subscribe(world)];
        const { runId } = await endedRun(world);
        const first = deliveredIn(await arrivalOf(world, one, runId), 1, one.secret);
        const second = deliveredIn(await arrivalOf(world, two, runId), 2, two.secret);
        same([first.runId, second.runId], [bareId(runId), runId], 'the runIds');
        same(first.event.eventId, second.event.eventId, 'the eventId under major 1');
      },
    },
    {
      id: 'once-each',
      name: 'An event is delivered to the subscriptions of its type and to no other; best effort delivers it once.',
      rule: [EVENTS, 'webhooks.delivery.one-per-subscription'],
      async run(world) {
        const wanted = ['run.started', COMPLETED];
        const [one, other, witness] = [
          await subscribe(world, { events: wanted }),
          await subscribe(world, { events: ['run.failed'] }),
          await subscribe(world),
        ];
        const { runId } = await endedRun(world);
        await settled(world, witness);
        await arrived(world, one, wanted.length);
        const types = one.inbox.arrivals
          .filter((arrival) => runsIn([arrival])[0] === runId)
          .map((arrival) => deliveredIn(arrival, world.major, one.secret).event.type);
        same(seenOnce(world, types), [...wanted].sort(), 'the types that were delivered');
        holds(
          !isAbout(other.inbox.arrivals, runId),
          'no delivery of this run to a subscription of other types',
          'a delivery',
        );
      },
    },
    {
      id: 'tags',
      name: 'A subscription with tags gets events only of runs that share one of them.',
      rule: ['Resources: Webhook subscription', 'webhooks.registration.tag-overlap'],
      async run(world) {
        const tag = `conformance-${crypto.randomUUID()}`;
        const [tagged, witness] = [await subscribe(world, { tags: [tag, 'another'] }), await subscribe(world)];
        const without = await endedRun(world);
        const within = await endedRun(world, NOOP, { tags: ['third', tag] });
        await arrived(world, tagged);
        await settled(world, witness, 2);
        same(
          seenOnce(world, runsIn(tagged.inbox.arrivals)),
          [within.runId],
          `the runs that were delivered (without ${without.runId})`,
        );
      },
    },
    {
      id: 'no-tags',
      name: 'A subscription without tags gets events of every run, with or without tags.',
      rule: ['Resources: Webhook subscription', 'webhooks.registration.no-tags-all-runs'],
      async run(world) {
        const subscribed = await subscribe(world, { tags: 'none' });
        const { runId } = await endedRun(world, NOOP, { tags: ['conformance-some-tag'] });
        await arrivalOf(world, subscribed, runId);
      },
    },
    {
      id: 'not-of-the-past',
      name: 'Events before a registration are not delivered to it.',
      rule: [EVENTS, 'webhooks.delivery.one-per-subscription'],
      async run(world) {
        const past = await endedRun(world);
        const subscribed = await subscribe(world);
        const now = await endedRun(world);
        await arrivalOf(world, subscribed, now.runId);
        await world.sleep(QUIET_MS);
        holds(
          !isAbout(subscribed.inbox.arrivals, past.runId),
          'no delivery of a run before the registration',
          'a delivery',
        );
      },
    },
    {
      id: 'tenant-apart',
      name: "Events of another tenant's runs are not delivered.",
      rule: [RULES, 'webhooks.delivery.tenant-scope'],
      needs: [key('otherTenant')],
      async run(world) {
        const [subscribed, witness] = [await subscribe(world), await subscribe(world)];
        const foreign = await endedRun(world, NOOP, {}, world.as('otherTenant'));
        const own = await endedRun(world);
        await arrivalOf(world, witness, own.runId);
        await world.sleep(QUIET_MS);
        holds(
          !isAbout(subscribed.inbox.arrivals, foreign.runId),
          'no delivery of a run of another tenant',
          'a delivery',
        );
      },
    },
    {
      id: 'workspace-apart',
      name: "Events of another workspace's runs are not delivered.",
      rule: [RULES, 'webhooks.delivery.workspace-scope'],
      needs: [key('otherWorkspace')],
      async run(world) {
        const [subscribed, witness] = [await subscribe(world), await subscribe(world)];
        const foreign = await endedRun(world, NOOP, {}, world.as('otherWorkspace'));
        const own = await endedRun(world);
        await arrivalOf(world, witness, own.runId);
        await world.sleep(QUIET_MS);
        holds(
          !isAbout(subscribed.inbox.arrivals, foreign.runId),
          'no delivery of a run of another workspace',
          'a delivery',
        );
      },
    },
    {
      id: 'test-live-apart',
      name: 'Events of test runs are not delivered to live subscriptions.',
      rule: ['Authorization rules', 'auth.tenancy.test-live-apart'],
      needs: [key('test')],
      async run(world) {
        const subscribed = await subscribe(world);
        const tested = await endedRun(world, NOOP, {}, world.as('test'));
        const own = await endedRun(world);
        await arrivalOf(world, subscribed, own.runId);
        await world.sleep(QUIET_MS);
        holds(!isAbout(subscribed.inbox.arrivals, tested.runId), 'no delivery of a test run', 'a delivery');
      },
    },
  ],
);

/** Sorts the values. Repetitions are removed when delivery is durable, which may deliver an event more than once. */
function seenOnce({ target, major }: World, seen: readonly string[]): readonly string[] {
  return (isDurable(target, major) ? [...new Set(seen)] : [...seen]).sort();
}
