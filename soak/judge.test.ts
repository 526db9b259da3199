import { expect, test } from 'vitest';
import type { DeadLetter, Evidence, KnownRun, KnownSubscription, Received } from './evidence.ts';
import { judge, type RuleName } from './judge.ts';
import { WORKFLOWS } from './plan.ts';

const START = 1_780_000_000_000;
const run = (runId: string, realm: KnownRun['realm'], workflow: string): KnownRun => ({
  runId,
  realm,
  workflow,
  tags: ['even'],
  acknowledged: true,
  status: workflow === 'fail' ? 'failed' : 'completed',
  log: (WORKFLOWS[workflow]?.types ?? []).map((type, sequence) => ({
    eventId: `evt_${runId}_${sequence}`,
    sequence,
    type,
    at: START + sequence,
  })),
});
const subscription = (name: string, fields: Partial<KnownSubscription> = {}): KnownSubscription => ({
  name,
  webhookId: `whk_${name}`,
  realm: 'live',
  durable: true,
  events: ['run.started', 'node.started', 'node.completed', 'node.failed', 'run.completed', 'run.failed'],
  tags: [],
  isStanding: true,
  ...fields,
});

const SUBSCRIPTIONS = [
  subscription('durable'),
  subscription('best-effort', { durable: false }),
  subscription('odd', { tags: ['odd'] }),
  subscription('endings', { events: ['run.completed', 'run.failed'] }),
  subscription('gone', { isStanding: false, removedAt: START + 60_000 }),
  subscription('other', { realm: 'other' }),
];

/** A request for an event that the receiver accepted. */
function received(name: string, { runId, log }: KnownRun, sequence: number, fields: Partial<Received> = {}): Received {
  const event = log[sequence];
  return {
    at: START + 1000,
    name,
    webhookId: `whk_${name}`,
    runId,
    tenant: undefined,
    sequence,
    eventId: event?.eventId ?? '',
    type: event?.type ?? '',
    digest: `digest of ${name} ${runId} ${sequence}`,
    refusal: undefined,
    answer: 204,
    answeredAt: START + 1010,
    ...fields,
  };
}

const [ECHO, FAIL, FOREIGN] = [
  run('run_1', 'live', 'echo'),
  run('run_2', 'live', 'fail'),
  run('run_3', 'other', 'echo'),
];
const LETTER: DeadLetter = { name: 'endings', runId: 'run_2', eventId: 'evt_run_2_3', attempts: 3, at: START + 5000 };

/** A soak that satisfies every rule, an outage and a dead letter included. */
const SOUND: Evidence = {
  policy: { maxAttempts: 3, delayMs: 100, maxDelayMs: 1000 },
  attemptTimeoutMs: 1000,
  subscriptions: SUBSCRIPTIONS,
  runs: [ECHO, { ...FAIL, idempotencyKey: 'key-1' }, FOREIGN],
  // The same creation, sent twice.
  keyed: [
    { idempotencyKey: 'key-1', runId: 'run_2' },
    { idempotencyKey: 'key-1', runId: 'run_2' },
  ],
  received: [
    ...[0, 1, 2, 3].flatMap((sequence) => [
      received('durable', ECHO, sequence),
      received('durable', FAIL, sequence),
      received('best-effort', ECHO, sequence, { answer: 500 }),
      received('other', FOREIGN, sequence, { tenant: 'umbrella' }),
    ]),
    // The repetition by a host that lost the outcome.
    received('durable', ECHO, 0, { at: START + 9000 }),
    received('endings', ECHO, 3),
    ...[1, 2, 3].map((second) => received('endings', FAIL, 3, { at: START + second * 1000, answer: 503 })),
    received('gone', ECHO, 0),
  ],
  deadLetters: [LETTER],
  disturbances: [{ kind: 'kill-host', subject: 'a', from: START + 20_000, until: START + 21_000, losesOutcomes: true }],
  audits: [{ realm: 'live', chainValid: true, checkpointsValid: true, checkpoints: 2 }],
  bootMs: [],
  unexplained: [],
};

test('finds nothing in a sound soak', () => {
  expect(judge(SOUND)).toEqual([]);
});

const without = (name: string, of: KnownRun, sequence: number) =>
  SOUND.received.filter((each) => !(each.name === name && each.runId === of.runId && each.sequence === sequence));
const also = (...more: Received[]): Partial<Evidence> => ({ received: [...SOUND.received, ...more] });
const doctored = (at: (each: Received) => boolean, fields: Partial<Received>): Partial<Evidence> => {
  const index = SOUND.received.findIndex(at);
  return { received: SOUND.received.with(index, { ...(SOUND.received[index] as Received), ...fields }) };
};
const runsWith = (changed: KnownRun): Partial<Evidence> => ({
  runs: SOUND.runs.map((known) => (known.runId === changed.runId ? changed : known)),
});
const letters = (fields: Partial<DeadLetter>): Partial<Evidence> => ({ deadLetters: [{ ...LETTER, ...fields }] });

const DOCTORED: readonly [title: string, rule: RuleName, change: Partial<Evidence>][] = [
  ['an event that never came', 'arrival', { received: without('durable', FAIL, 2) }],
  [
    'an event that was never accepted and is not a dead letter',
    'arrival',
    {
      received: SOUND.received
        .filter(({ answer }) => answer !== 503)
        .concat(received('endings', FAIL, 3, { answer: 500 })),
      deadLetters: [],
    },
  ],
  [
    'an event with a wrong signature',
    'identity',
    also(received('durable', ECHO, 1, { refusal: 'signature_mismatch' })),
  ],
  ['a repetition with another body', 'identity', also(received('durable', ECHO, 1, { digest: 'another' }))],
  ['a repetition with another event id', 'identity', also(received('durable', ECHO, 1, { eventId: 'evt_other' }))],
  [
    'a delivery that names another subscription',
    'identity',
    also(received('durable', ECHO, 1, { webhookId: 'whk_odd' })),
  ],
  ['an event that is not in the log', 'identity', also(received('durable', ECHO, 1, { sequence: 9 }))],
  [
    'an attempt beyond the policy',
    'attempts',
    also(...[4, 5].map((second) => received('endings', FAIL, 3, { at: START + second * 1000, answer: 503 }))),
  ],
  ['a second attempt of best effort', 'attempts', also(received('best-effort', ECHO, 2))],
  [
    'a second attempt of best effort while a host was killed',
    'attempts',
    also(received('best-effort', ECHO, 2, { at: START + 20_500 })),
  ],
  ['a dead letter before its attempts were used up', 'deadLetters', letters({ attempts: 2 })],
  ['a dead letter before the waits of its policy were over', 'deadLetters', letters({ at: START + 200 })],
  ['a dead letter that is listed twice', 'deadLetters', { deadLetters: [LETTER, LETTER] }],
  [
    'a dead letter of a delivered event',
    'deadLetters',
    also(received('endings', FAIL, 3, { at: START + 4000, answeredAt: START + 4010 })),
  ],
  ['a dead letter of best effort', 'deadLetters', { deadLetters: [LETTER, { ...LETTER, name: 'best-effort' }] }],
  [
    'a dead letter of an event that does not exist',
    'deadLetters',
    { deadLetters: [LETTER, { ...LETTER, eventId: 'evt_none' }] },
  ],
  [
    'a dead letter of an event that its subscription does not match',
    'deadLetters',
    { deadLetters: [LETTER, { ...LETTER, name: 'odd' }] },
  ],
  ["another tenant's event", 'isolation', also(received('durable', FOREIGN, 0))],
  ['an event bound to another tenant', 'isolation', doctored(({ name }) => name === 'other', { tenant: 'acme' })],
  [
    'an event of a run that its realm does not contain',
    'isolation',
    also(received('durable', run('run_9', 'live', 'echo'), 0)),
  ],
  ['an event that its subscription does not match', 'isolation', also(received('endings', ECHO, 0))],
  ['an event without the tag of its subscription', 'isolation', also(received('odd', ECHO, 0))],
  ['a key that made two runs', 'once', runsWith({ ...ECHO, idempotencyKey: 'key-1' })],
  [
    'a key whose responses name two runs',
    'once',
    { keyed: [...SOUND.keyed, { idempotencyKey: 'key-1', runId: 'run_3' }] },
  ],
  [
    'a run with two ends',
    'log',
    runsWith({ ...ECHO, log: [...ECHO.log, { eventId: 'evt_x', sequence: 4, type: 'run.failed', at: START }] }),
  ],
  ['a run without an end', 'log', runsWith({ ...ECHO, status: 'running', log: ECHO.log.slice(0, 3) })],
  ['a run that failed and should not have', 'log', runsWith({ ...ECHO, status: 'failed' })],
  [
    'a gap in a log',
    'log',
    runsWith({ ...ECHO, log: ECHO.log.map((event) => ({ ...event, sequence: event.sequence * 2 })) }),
  ],
  [
    'an event that is recorded twice',
    'log',
    runsWith({
      ...ECHO,
      log: ECHO.log
        .flatMap((event, index) => (index === 1 ? [event, event] : [event]))
        .map((event, sequence) => ({ ...event, sequence })),
    }),
  ],
  [
    'two events with one id',
    'log',
    runsWith({
      ...FAIL,
      log: FAIL.log.map((event, index) => (index === 0 ? { ...event, eventId: 'evt_run_1_0' } : event)),
    }),
  ],
  ['an attempt after a removal', 'removal', also(received('gone', ECHO, 1, { at: START + 62_000 }))],
  [
    'a broken chain',
    'audit',
    { audits: [{ realm: 'live', chainValid: false, checkpointsValid: true, checkpoints: 2 }] },
  ],
  [
    'a broken checkpoint',
    'audit',
    { audits: [{ realm: 'live', chainValid: true, checkpointsValid: false, checkpoints: 2 }] },
  ],
  ['an audit log that was not verified', 'audit', { audits: [] }],
  ['a host that ended by itself', 'unexplained', { unexplained: ['host a ended by itself'] }],
];

test.each(DOCTORED)('finds %s', (_title, rule, change) => {
  expect(judge({ ...SOUND, ...change }).map((finding) => finding.rule)).toContain(rule);
});

test('allows a node to start again after a disturbance of its host, each start with its number', () => {
  const killed = START + 20_000;
  const restarted = (attempts: readonly number[], at: number): Partial<Evidence> => {
    const starts = attempts.map((attempt, index) => ({
      eventId: `evt_again_${index}`,
      sequence: 0,
      type: 'node.started',
      at,
      attempt,
    }));
    const [first, ...others] = ECHO.log.toSpliced(2, 0, ...starts).map((event, sequence) => ({ ...event, sequence }));
    return { ...runsWith({ ...ECHO, log: first === undefined ? [] : [first, ...others] }), received: [] };
  };
  const found = (evidence: Partial<Evidence>) => judge({ ...SOUND, ...evidence }).filter(({ rule }) => rule === 'log');
  expect(found(restarted([1], killed + 1500))).toEqual([]);
  expect(found(restarted([1, 2], killed + 1500))).toEqual([]);
  expect(found(restarted([1], START + 10))).toHaveLength(1);
  expect(found(restarted([2], killed + 1500))).toHaveLength(1);
  expect(found(restarted([1, 1], killed + 1500))).toHaveLength(1);
});

test('allows one more attempt, and no second, for an outcome that a killed host lost', () => {
  const late = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      received('endings', FAIL, 3, { at: START + 20_100 + index, answer: 503 }),
    );
  const attempts = (evidence: Partial<Evidence>) =>
    judge({ ...SOUND, ...evidence }).filter(({ rule }) => rule === 'attempts');
  expect(attempts(also(...late(1)))).toEqual([]);
  expect(attempts(also(...late(2)))).toHaveLength(1);
});

test('allows an immediate dead letter for a receiver that answered 410', () => {
  const early = { ...LETTER, runId: 'run_1', eventId: 'evt_run_1_3', attempts: 1, at: START + 1500 };
  const evidence = { ...SOUND, received: without('endings', ECHO, 3), deadLetters: [LETTER, early] };
  expect(judge(evidence).map(({ rule }) => rule)).toEqual(['deadLetters']);
  expect(
    judge({ ...evidence, received: [...evidence.received, received('endings', ECHO, 3, { answer: 410 })] }),
  ).toEqual([]);
});
