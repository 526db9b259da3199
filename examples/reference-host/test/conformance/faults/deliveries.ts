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

/** What goes to the receiver on its way. */
const delivered = (change: (asked: Asked) => Asked): Meddler => asking(EVERYTHING, change);
const dropped = (pattern: RegExp): Meddler =>
  delivered((asked) => ({
    ...asked,
    headers: Object.fromEntries(Object.entries(asked.headers).filter(([name]) => !pattern.test(name))),
  }));

/** A host that believes that all went well. */
const contented: Meddler = async (asked, pass) => {
  await pass(asked);
  return ok();
};

/** A host that tries again by itself, whatever it is told. */
const insistent =
  (times: number): Meddler =>
  async (asked, pass) => {
    const answered = await pass(asked);
    for (let again = 1; again < times && answered.status >= 300; again += 1) await pass(asked);
    return answered;
  };

/** Another body, under a signature that is right. */
function resigned(change: (body: Json) => Json): Meddler {
  return (asked, pass, sign) => pass(sign({ ...asked, body: JSON.stringify(change(JSON.parse(asked.body))) }));
}

/** Tells every subscription of all the runs that were made before, too. */
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

/** Passes nothing on to a receiver that has failed so often in a row. */
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

/** Passes nothing on to anybody when four attempts have failed, whoever it was. */
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
    fault: 'formats the body behind its signature',
    breaks: ['deliveries.signed', 'deliveries.body'],
    receiver: delivered((asked) => ({ ...asked, body: JSON.stringify(JSON.parse(asked.body), undefined, 1) })),
  },
  {
    fault: 'names the event type wrongly',
    breaks: ['deliveries.header-values'],
    receiver: delivered((asked) => ({ ...asked, headers: { ...asked.headers, 'svc-event-type': 'run.failed' } })),
  },
  { fault: 'leaves out the family of major 1', breaks: ['deliveries.header-families'], receiver: dropped(/^x-svc-/) },
  {
    fault: 'has another User-Agent',
    breaks: ['deliveries.request'],
    receiver: sendingHeader(EVERYTHING, 'user-agent', 'curl/8'),
  },
  {
    fault: 'has no workspace in its deliveries',
    breaks: ['deliveries.workspace-id'],
    receiver: resigned((body) => ({ ...body, workspaceId: 'acme' })),
  },
  {
    fault: 'tells another event than the log has',
    breaks: ['deliveries.event-verbatim'],
    receiver: resigned(set('event.payload', {})),
  },
  {
    fault: 'has one form of ids for both majors',
    breaks: ['deliveries.both-majors-delivered', 'deliveries.body'],
    receiver: resigned((body) => ({ ...body, runId: `other/${String(body.runId).replace('/', '-')}` })),
  },
  {
    fault: 'delivers what nobody asked for',
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
    fault: 'delivers to nobody who names no tags',
    breaks: ['deliveries.no-tags'],
    host: sending(REGISTER, (body) => (body.tags === undefined ? { ...body, tags: ['nothing-has-this-tag'] } : body)),
  },
  { fault: 'delivers the past', breaks: ['deliveries.not-of-the-past'], ...repeatingThePast() },
  { fault: 'delivers across tenants', breaks: ['deliveries.tenant-apart'], host: mistaking('otherTenant', 'main') },
  {
    fault: 'delivers across workspaces',
    breaks: ['deliveries.workspace-apart'],
    host: mistaking('otherWorkspace', 'main'),
  },
  { fault: 'delivers tests', breaks: ['deliveries.test-live-apart'], host: mistaking('test', 'main') },
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
    fault: 'goes on when it was told to stop',
    breaks: ['deliveries.none-after-unregister', 'rotation.by-registering-again'],
    host: instead(UNREGISTER, 204),
  },
  { fault: 'delivers one after the other', breaks: ['deliveries.fair'], receiver: oneAfterTheOther() },
  {
    fault: 'takes replays for news',
    breaks: ['deliveries.replayed-history-not-delivered', 'runs.forked-replay'],
    host: sending(FORK, (body) => (body.mode === 'replay' ? { mode: 'branch', fromSeq: 0 } : body)),
  },
  {
    fault: 'takes branches for replays',
    breaks: ['deliveries.branch-delivered'],
    host: sending(FORK, (body) => (body.mode === 'branch' ? { mode: 'replay' } : body)),
  },
  {
    fault: 'does not tell of what was cancelled',
    breaks: ['deliveries.cancelled-delivered'],
    host: sending(
      REGISTER,
      make('events', () => ['run.failed']),
    ),
  },
];

export const bestEffortFaults: readonly Fault[] = [
  { fault: 'tries again', breaks: ['best-effort.single-attempt'], on: 'best-effort', receiver: insistent(2) },
  {
    fault: 'waits for as long as it takes',
    breaks: ['best-effort.timeout'],
    on: 'best-effort',
    receiver: neverGivingUp(),
  },
  {
    fault: 'never spares who fails',
    breaks: ['best-effort.circuit-opens', 'best-effort.circuit-reopens', 'best-effort.gone'],
    on: 'best-effort',
    receiver: contented,
  },
  {
    fault: 'gives up at the third failure',
    breaks: ['best-effort.circuit-counts-in-a-row'],
    on: 'best-effort',
    receiver: givingUpAfter(3),
  },
  {
    fault: 'has one circuit for all',
    breaks: ['best-effort.circuit-of-its-own'],
    on: 'best-effort',
    receiver: oneCircuitForAll(),
  },
  {
    fault: 'never comes back to who failed',
    breaks: ['best-effort.circuit-probes'],
    on: 'best-effort',
    receiver: givingUpAfter(4),
  },
];

export const durableFaults: readonly Fault[] = [
  {
    fault: 'tries once',
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
    fault: 'takes a receiver that hangs for one that answered',
    breaks: ['durable.hang-retried'],
    receiver: (asked, pass) => Promise.race([pass(asked), after(300)]),
  },
  {
    fault: 'signs once for all attempts',
    breaks: ['durable.signed-afresh'],
    receiver: signingOnce(),
  },
  {
    fault: 'comes again when it likes',
    breaks: ['durable.retry-after'],
    receiver: header(EVERYTHING, 'retry-after', undefined),
  },
  { fault: 'never stops trying', breaks: ['durable.attempts-bounded'], receiver: insistent(2) },
  { fault: 'drops what comes behind failures', breaks: ['durable.no-circuit'], receiver: givingUpAfter(5) },
  {
    fault: 'takes gone for broken',
    breaks: ['durable.gone'],
    receiver: status(EVERYTHING, 410, 500),
  },
];

const ROTATE = /\/rotate-secret(\?|$)/;
const ROTATED = { rotatedAt: '2026-01-01T00:00:00Z', previousSecretExpiresAt: '2026-01-02T00:00:00Z' };

export const rotationFaults: readonly Fault[] = [
  {
    fault: 'rotates the secret of anybody',
    breaks: ['rotation.none-by-default'],
    host: instead(ROTATE, 200, ROTATED),
  },
  {
    fault: 'believes every endpoint',
    breaks: ['rotation.standard-challenge', 'rotation.standard-unverified-400'],
    receiver: (asked, pass) => {
      const { challenge } = JSON.parse(asked.body);
      if (challenge === undefined) return pass(asked);
      const headers = { 'content-type': 'application/json' };
      return Promise.resolve({ status: 200, headers, body: JSON.stringify({ challenge }) });
    },
  },
  {
    fault: 'makes Standard Webhooks of what was no such wish',
    breaks: ['rotation.standard-form-400'],
    host: sending(
      REGISTER,
      make('signatureAlgorithms', () => ['v1', 'standard-webhooks-1']),
    ),
  },
  {
    fault: 'forgets the other signature',
    breaks: ['rotation.standard-signed'],
    receiver: dropped(/^webhook-signature$/),
  },
  { fault: 'rotates in words alone', breaks: ['rotation.rotated'], host: instead(ROTATE, 200, ROTATED) },
  {
    fault: 'rotates to anything',
    breaks: ['rotation.rotated-form-400'],
    host: sending(ROTATE, set('secret', `whsec_${Buffer.alloc(32, 7).toString('base64')}`)),
  },
];
