import type { Fault } from '../fault.ts';
import { type Answered, type Asked, type Meddler, textIn } from '../faulty-proxy.ts';
import {
  asking,
  CREATE,
  EVERYTHING,
  FORK,
  header,
  instead,
  type Json,
  make,
  mistaking,
  REGISTER,
  sending,
  sendingHeader,
  set,
  status,
  UNREGISTER,
} from '../meddlers.ts';

/** Changes a delivery on its way to the receiver. */
const delivered = (change: (asked: Asked) => Asked): Meddler => asking(EVERYTHING, change);
const dropped = (pattern: RegExp): Meddler =>
  delivered((asked) => ({
    ...asked,
    headers: Object.fromEntries(Object.entries(asked.headers).filter(([name]) => !pattern.test(name))),
  }));

/** Answers every delivery with 200, after it has reached the receiver. */
const contented: Meddler = async (asked, pass) => {
  await pass(asked);
  return ok();
};

/** Repeats each failed attempt, up to `times` in all. */
const insistent =
  (times: number): Meddler =>
  async (asked, pass) => {
    const answered = await pass(asked);
    for (let again = 1; again < times && answered.status >= 300; again += 1) await pass(asked);
    return answered;
  };

/** Changes the body of a delivery and signs it again. */
function resigned(change: (body: Json) => Json): Meddler {
  return (asked, pass, sign) => pass(sign({ ...asked, body: JSON.stringify(change(JSON.parse(asked.body))) }));
}

/** Delivers each event also for all runs that were created before. */
function repeatingThePast(): Pick<Fault, 'host' | 'receiver'> {
  const past: string[] = [];
  return {
    async host(asked, pass) {
      const answered = await pass(asked);
      if (!CREATE.test(`${asked.method} ${asked.target}`)) return answered;
      const body = await textIn(answered);
      past.push(String(JSON.parse(body).runId));
      return { ...answered, body };
    },
    async receiver(asked, pass) {
      for (const runId of past) await pass({ ...asked, body: JSON.stringify({ ...JSON.parse(asked.body), runId }) });
      return pass(asked);
    },
  };
}

function oneAfterTheOther(): Meddler {
  let last: Promise<unknown> = Promise.resolve();
  return (asked, pass) => {
    const next = last.then(() => Promise.race([pass(asked), after(5000)]));
    last = next.catch(() => {});
    return next;
  };
}

/** It tells the receiver nothing of the host's having given up. */
function neverGivingUp(): Meddler {
  return (asked, pass) => pass(asked);
}

/** Passes nothing on to a receiver after `most` failures in a row. */
function givingUpAfter(most: number): Meddler {
  const failures = new Map<string, number>();
  return async (asked, pass) => {
    const count = () => failures.get(asked.target) ?? 0;
    if (count() >= most) return ok();
    const answered = await pass(asked);
    failures.set(asked.target, answered.status < 300 ? 0 : count() + 1);
    return answered;
  };
}

/** Passes nothing on after four failed attempts of all subscriptions together. */
function oneCircuitForAll(): Meddler {
  let failures = 0;
  return async (asked, pass) => {
    if (failures >= 4) return ok();
    const answered = await pass(asked);
    if (answered.status >= 300) failures += 1;
    return answered;
  };
}

/** Sends every attempt with the headers of the first. */
function signingOnce(): Meddler {
  const first = new Map<string, Asked>();
  return (asked, pass) => {
    const sent = first.get(asked.target) ?? asked;
    first.set(asked.target, sent);
    return pass(sent);
  };
}

async function after(ms: number): Promise<Answered> {
  await new Promise((resolve) => setTimeout(resolve, ms).unref());
  return ok();
}

function ok(): Answered {
  return { status: 200, headers: {}, body: '' };
}

export const deliveryFaults: readonly Fault[] = [
  {
    fault: 'formats the body after signing it',
    breaks: ['deliveries.signed', 'deliveries.body'],
    receiver: delivered((asked) => ({ ...asked, body: JSON.stringify(JSON.parse(asked.body), undefined, 1) })),
  },
  {
    fault: 'has another event type in its headers',
    breaks: ['deliveries.header-values'],
    receiver: delivered((asked) => ({ ...asked, headers: { ...asked.headers, 'svc-event-type': 'run.failed' } })),
  },
  { fault: 'omits the X-svc- headers', breaks: ['deliveries.header-families'], receiver: dropped(/^x-svc-/) },
  {
    fault: 'has another User-Agent',
    breaks: ['deliveries.request'],
    receiver: sendingHeader(EVERYTHING, 'user-agent', 'curl/8'),
  },
  {
    fault: 'has the tenant for a workspace in its deliveries',
    breaks: ['deliveries.workspace-id'],
    receiver: resigned((body) => ({ ...body, workspaceId: 'acme' })),
  },
  {
    fault: 'delivers another payload than the log has',
    breaks: ['deliveries.event-verbatim', 'deliveries.published-schema'],
    receiver: resigned(set('event.payload', {})),
  },
  {
    fault: 'uses one form of ids for both majors',
    breaks: ['deliveries.both-majors-delivered', 'deliveries.body'],
    receiver: resigned((body) => ({ ...body, runId: `other/${String(body.runId).replace('/', '-')}` })),
  },
  {
    fault: 'delivers event types without a subscription',
    breaks: ['deliveries.once-each'],
    host: sending(REGISTER, set('events', ['run.started', 'run.completed', 'run.failed'])),
  },
  {
    fault: 'delivers every event twice',
    breaks: ['deliveries.success-is-2xx'],
    receiver: async (asked, pass) => {
      await pass(asked);
      return pass(asked);
    },
  },
  { fault: 'ignores tags', breaks: ['deliveries.tags'], host: sending(REGISTER, set('tags', undefined)) },
  {
    fault: 'delivers nothing to subscriptions without tags',
    breaks: ['deliveries.no-tags'],
    host: sending(REGISTER, (body) => (body.tags === undefined ? { ...body, tags: ['nothing-has-this-tag'] } : body)),
  },
  { fault: 'delivers events before the registration', breaks: ['deliveries.not-of-the-past'], ...repeatingThePast() },
  { fault: 'delivers across tenants', breaks: ['deliveries.tenant-apart'], host: mistaking('otherTenant', 'main') },
  {
    fault: 'delivers across workspaces',
    breaks: ['deliveries.workspace-apart'],
    host: mistaking('otherWorkspace', 'main'),
  },
  {
    fault: 'delivers events of test runs to live subscriptions',
    breaks: ['deliveries.test-live-apart'],
    host: mistaking('test', 'main'),
  },
  {
    fault: 'follows redirects',
    breaks: ['deliveries.redirect-not-followed', 'durable.redirect-retried'],
    receiver: async (asked, pass) => {
      const answered = await pass(asked);
      const [location] = [answered.headers.location ?? []].flat();
      if (location === undefined) return answered;
      return pass({ ...asked, target: new URL(location).pathname });
    },
  },
  {
    fault: 'keeps delivering after unregistration',
    breaks: ['deliveries.none-after-unregister', 'rotation.by-registering-again'],
    host: instead(UNREGISTER, 204),
  },
  { fault: 'delivers to one receiver at a time', breaks: ['deliveries.fair'], receiver: oneAfterTheOther() },
  {
    fault: 'delivers the events of a replay',
    breaks: ['deliveries.replayed-history-not-delivered', 'runs.forked-replay'],
    host: sending(FORK, (body) => (body.mode === 'replay' ? { mode: 'branch', fromSeq: 0 } : body)),
  },
  {
    fault: 'does not deliver the events of a branch',
    breaks: ['deliveries.branch-delivered'],
    host: sending(FORK, (body) => (body.mode === 'branch' ? { mode: 'replay' } : body)),
  },
  {
    fault: 'does not deliver run.cancelled',
    breaks: ['deliveries.cancelled-delivered'],
    host: sending(
      REGISTER,
      make('events', () => ['run.failed']),
    ),
  },
];

export const bestEffortFaults: readonly Fault[] = [
  {
    fault: 'retries a best-effort delivery',
    breaks: ['best-effort.single-attempt'],
    on: 'best-effort',
    receiver: insistent(2),
  },
  {
    fault: 'never ends an attempt',
    breaks: ['best-effort.timeout'],
    on: 'best-effort',
    receiver: neverGivingUp(),
  },
  {
    fault: 'never opens the circuit',
    breaks: ['best-effort.circuit-opens', 'best-effort.circuit-reopens', 'best-effort.gone'],
    on: 'best-effort',
    receiver: contented,
  },
  {
    fault: 'opens the circuit at the third failure',
    breaks: ['best-effort.circuit-counts-in-a-row'],
    on: 'best-effort',
    receiver: givingUpAfter(3),
  },
  {
    fault: 'has one circuit for all subscriptions',
    breaks: ['best-effort.circuit-of-its-own'],
    on: 'best-effort',
    receiver: oneCircuitForAll(),
  },
  {
    fault: 'never probes after the cooldown',
    breaks: ['best-effort.circuit-probes'],
    on: 'best-effort',
    receiver: givingUpAfter(4),
  },
];

export const durableFaults: readonly Fault[] = [
  {
    fault: 'does not retry a durable delivery',
    breaks: [
      'durable.retried',
      'durable.redirect-retried',
      'durable.signed-afresh',
      'durable.retry-after',
      'durable.attempts-bounded',
      'durable.no-circuit',
      'dead-letters.exhausted-to-sink',
    ],
    receiver: contented,
  },
  {
    fault: 'treats a receiver that hangs as a success',
    breaks: ['durable.hang-retried'],
    receiver: (asked, pass) => Promise.race([pass(asked), after(300)]),
  },
  {
    fault: 'signs all attempts with the time of the first',
    breaks: ['durable.signed-afresh'],
    receiver: signingOnce(),
  },
  {
    fault: 'ignores Retry-After',
    breaks: ['durable.retry-after'],
    receiver: header(EVERYTHING, 'retry-after', undefined),
  },
  { fault: 'exceeds the number of attempts', breaks: ['durable.attempts-bounded'], receiver: insistent(2) },
  { fault: 'drops events after failures', breaks: ['durable.no-circuit'], receiver: givingUpAfter(5) },
  {
    fault: 'treats a 410 as a temporary failure',
    breaks: ['durable.gone'],
    receiver: status(EVERYTHING, 410, 500),
  },
];

const ROTATE = /\/rotate-secret(\?|$)/;
const ROTATED = { rotatedAt: '2026-01-01T00:00:00Z', previousSecretExpiresAt: '2026-01-02T00:00:00Z' };

export const rotationFaults: readonly Fault[] = [
  {
    fault: 'rotates the secret of a default subscription',
    breaks: ['rotation.none-by-default'],
    host: instead(ROTATE, 200, ROTATED),
  },
  {
    fault: 'skips the challenge of an endpoint',
    breaks: ['rotation.standard-challenge', 'rotation.standard-unverified-400'],
    receiver: (asked, pass) => {
      const { challenge } = JSON.parse(asked.body);
      if (challenge === undefined) return pass(asked);
      const headers = { 'content-type': 'application/json' };
      return Promise.resolve({ status: 200, headers, body: JSON.stringify({ challenge }) });
    },
  },
  {
    fault: 'accepts any list of algorithms',
    breaks: ['rotation.standard-form-400'],
    host: sending(
      REGISTER,
      make('signatureAlgorithms', () => ['v1', 'standard-webhooks-1']),
    ),
  },
  {
    fault: 'omits webhook-signature',
    breaks: ['rotation.standard-signed'],
    receiver: dropped(/^webhook-signature$/),
  },
  { fault: 'answers a rotation without rotating', breaks: ['rotation.rotated'], host: instead(ROTATE, 200, ROTATED) },
  {
    fault: 'accepts a malformed secret in a rotation',
    breaks: ['rotation.rotated-form-400'],
    host: sending(ROTATE, set('secret', `whsec_${Buffer.alloc(32, 7).toString('base64')}`)),
  },
];
