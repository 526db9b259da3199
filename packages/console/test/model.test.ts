import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mountsIn } from '../page/data/api.ts';
import { keyIn, linkTo, offersKey, placeIn } from '../page/data/route.ts';
import type { RunEvent } from '../page/data/shapes.ts';
import { MessageParser } from '../page/data/sse.ts';
import { answerForm, typedValue } from '../page/model/answer-form.ts';
import { auditSentence } from '../page/model/audit-sentence.ts';
import { causeOf } from '../page/model/cause.ts';
import { hasStatus, letterFilter } from '../page/model/letter-filter.ts';
import { afterMessages } from '../page/model/run-log.ts';
import { distanceText, spanText, timeOfId } from '../page/model/spans.ts';
import { inTrouble, standingOf } from '../page/model/standing.ts';
import { questionOf, timelineOf } from '../page/model/timeline.ts';
import { shownJson, visibleText } from '../page/model/visible-text.ts';

describe('a place', () => {
  test('survives its link', () => {
    const id = fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }).filter((text) => !/\p{Cs}/u.test(text));
    const filters = fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), fc.string({ minLength: 1 }));
    const screen = fc.constantFrom('subscriptions', 'deliveries', 'dead-letters', 'runs', 'audit', 'keys' as const);
    fc.assert(
      fc.property(screen, fc.array(id, { maxLength: 2 }), filters, (name, ids, given) => {
        expect(placeIn(linkTo(name, ids, given))).toEqual({ screen: name, ids, filters: { ...given } });
      }),
    );
  });

  test.each(['', '#', '#/nowhere', '#key=secret', '#/runs/%'])('is never missing: %s', (fragment) => {
    expect(placeIn(fragment).screen).toMatch(/overview|runs/);
  });

  test('of a link with a key has the key, and no other place has one', () => {
    expect(keyIn('#key=svc_live_1')).toBe('svc_live_1');
    for (const fragment of ['#/runs?key=1', '#key=', '#key=a b', '#/key=1', ''])
      expect(keyIn(fragment)).toBeUndefined();
    // Also a key that is not taken leaves the address.
    for (const fragment of ['#key=svc_live_1', '#key=', '#key=a b', `#key=${'k'.repeat(9000)}`])
      expect(offersKey(fragment)).toBe(true);
    for (const fragment of ['', '#/keys', '#/runs?key=1', '#keys']) expect(offersKey(fragment)).toBe(false);
  });
});

describe('an event stream', () => {
  test('has the same messages in whichever pieces it arrives', () => {
    const text =
      'id: 1\nevent: run.started\ndata: {"a":1}\n\n: comment\n\ndata: one\r\ndata: two\r\n\r\nid: 2\rdata:x\r\r';
    const whole = new MessageParser().take(text);
    expect(whole).toEqual([
      { id: '1', event: 'run.started', data: '{"a":1}' },
      { id: '1', event: 'message', data: 'one\ntwo' },
    ]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (lengths) => {
        const parser = new MessageParser();
        const found = [];
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const length = lengths[turn % lengths.length] ?? 1;
          found.push(...parser.take(text.slice(at, at + length)));
          at += length;
        }
        expect(found.slice(0, 2)).toEqual(whole);
      }),
    );
  });

  test('that never ends a message is given up', () => {
    const parser = new MessageParser();
    const piece = 'x'.repeat(1_048_576);
    expect(() => {
      for (let count = 0; count < 10; count += 1) parser.take(piece);
    }).toThrow('too long');
  });
});

describe('a text of a stranger', () => {
  test('shows every hidden character', () => {
    expect(visibleText('a\u202egnp.exe\u0000\u200b')).toBe('a\\u202egnp.exe\\u0000\\u200b');
    expect(visibleText('a\nb')).toBe('a\\u000ab');
    expect(visibleText('a\nb\u0007', true)).toBe('a\nb\\u0007');
  });

  test('has no control and no format character when it is shown', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(visibleText(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  test('as a payload is cut, and says so', () => {
    expect(shownJson({ a: 1 })).toEqual({ text: '{\n  "a": 1\n}', cut: 0 });
    expect(shownJson('x'.repeat(100), 10)).toEqual({ text: '"xxxxxxxxx', cut: 92 });
  });
});

describe('a duration', () => {
  test.each([
    [0, '0 ms'],
    [0.2, '<1 ms'],
    [340, '340 ms'],
    [4200, '4.2 s'],
    [61_000, '1 min 1 s'],
    [3_600_000, '1 h'],
    [187_200_000, '2 d 4 h'],
  ])('of %d ms is %s', (ms, text) => {
    expect(spanText(ms)).toBe(text);
  });

  test('from now is told in both directions', () => {
    expect(distanceText(0, 20_000)).toBe('20 s ago');
    expect(distanceText(180_000, 0)).toBe('in 3 min');
    expect(distanceText(0, 100)).toBe('now');
  });

  test('begins with the time in an id', () => {
    // The example of the specification of ULIDs.
    expect(timeOfId('acme/run_01aryz6s41tsv4rrffq69g5fav')).toBe(1_469_918_176_385);
    expect(timeOfId('run_short')).toBeUndefined();
  });
});

describe('an attempt', () => {
  test.each([
    [{ outcome: 'failed', status: 500 }, 'HTTP 500', /failed while/],
    [{ outcome: 'failed', status: 401 }, 'HTTP 401', /signature/],
    [{ outcome: 'failed', status: 302 }, 'HTTP 302', /redirect/],
    [{ outcome: 'failed', status: 418 }, 'HTTP 418', /refused/],
    [{ outcome: 'failed', reason: 'timeout' }, 'Timeout', /in time/],
    [{ outcome: 'failed', reason: 'unavailable' }, 'Not reachable', /resolve/],
    [{ outcome: 'failed', reason: 'new-reason' }, 'No answer', /new-reason/],
    [{ outcome: 'skipped', reason: 'subscription-failed' }, 'Not attempted', /had failed/],
    [{ outcome: 'delivered', status: 204 }, 'HTTP 204', /accepted/],
  ] as const)('%j is explained', (attempt, title, sentence) => {
    const cause = causeOf(attempt);
    expect(cause.title).toBe(title);
    expect(cause.sentence).toMatch(sentence);
  });

  test('that failed has a remedy, with every status', () => {
    fc.assert(
      fc.property(fc.integer({ min: 300, max: 599 }), (status) => {
        expect(causeOf({ outcome: 'failed', status }).remedy).toBeTruthy();
      }),
    );
  });
});

describe('a subscription', () => {
  const closed = { state: 'closed' };
  test('is in trouble in the order of its weight, and of its age', () => {
    const healthy = { id: 1, state: 'active', circuit: closed } as const;
    const failing = { id: 2, state: 'active', circuit: closed, failingSince: '2026-01-02T00:00:00Z' } as const;
    const longer = { id: 3, state: 'active', circuit: closed, failingSince: '2026-01-01T00:00:00Z' } as const;
    const open = { id: 4, state: 'active', circuit: { state: 'open' } } as const;
    const failed = { id: 5, state: 'failed', circuit: closed } as const;
    const paused = { id: 6, state: 'paused', circuit: closed } as const;
    expect(inTrouble([healthy, failing, longer, open, failed, paused]).map(({ id }) => id)).toEqual([5, 4, 3, 2, 6]);
    expect(standingOf(healthy).word).toBe('healthy');
  });
});

const event = (sequence: number, type: string, nodeId?: string, payload: RunEvent['payload'] = {}): RunEvent => ({
  ...{ eventId: `evt_${sequence}`, runId: 'acme/run_1', type, sequence, payload },
  timestamp: new Date(sequence * 1000).toISOString(),
  ...(nodeId !== undefined && { nodeId }),
});

describe('a run', () => {
  test('has a lane for each node, whose bars end with the run', () => {
    const log = [
      event(0, 'run.started'),
      event(1, 'node.started', 'a'),
      event(2, 'node.suspended', 'a'),
      event(4, 'node.resumed', 'a'),
      event(5, 'node.completed', 'a'),
      event(6, 'node.started', 'b'),
      event(8, 'run.failed'),
    ];
    expect(timelineOf(log, 99_000)).toEqual({
      from: 0,
      to: 8000,
      lanes: [
        {
          nodeId: 'a',
          bars: [
            { nodeId: 'a', from: 1000, to: 2000, outcome: 'running' },
            { nodeId: 'a', from: 2000, to: 4000, outcome: 'waiting' },
            { nodeId: 'a', from: 4000, to: 5000, outcome: 'completed' },
          ],
        },
        { nodeId: 'b', bars: [{ nodeId: 'b', from: 6000, to: 8000, outcome: 'running' }] },
      ],
    });
    expect(timelineOf(log.slice(0, 2), 9000)?.to).toBe(9000);
    expect(timelineOf([], 0)).toBeUndefined();
  });

  test('waits with its last question', () => {
    const data = { title: 'Publish?', actions: ['accept', 'reject'] };
    const log = [event(0, 'run.started'), event(1, 'approval.requested', 'gate', { kind: 'approval', data })];
    expect(questionOf(log, 'gate')).toEqual({ nodeId: 'gate', kind: 'approval', data });
    expect(questionOf(log, undefined)).toBeUndefined();
    expect(questionOf(log, 'other')).toBeUndefined();
  });

  test('takes each event once, also from a batch that overlaps', () => {
    const message = (...events: RunEvent[]) => ({ id: undefined, event: 'batch', data: JSON.stringify(events) });
    const first = afterMessages([], [message(event(0, 'run.started'), event(1, 'node.started', 'a'))]);
    const log = afterMessages(first, [message(event(1, 'node.started', 'a'), event(2, 'node.completed', 'a'))]);
    expect(log.map(({ sequence }) => sequence)).toEqual([0, 1, 2]);
  });
});

describe('a question', () => {
  test('of an approval has a button for each action', () => {
    expect(answerForm({ kind: 'approval', data: { title: 'Good?', actions: ['accept', 'ask'] } })).toEqual({
      kind: 'approval',
      title: 'Good?',
      actions: ['accept', 'ask'],
    });
  });

  test('of a clarification has a field for each question, with its choices', () => {
    const questions = [{ id: 'colour', question: 'Which?', schema: { enum: ['red'] } }, { id: 'why' }, 'no question'];
    expect(answerForm({ kind: 'clarification', data: { questions } })).toEqual({
      kind: 'clarification',
      fields: [
        { name: 'colour', label: 'Which?', choices: ['red'] },
        { name: 'why', label: 'why' },
      ],
    });
  });

  test.each([
    { kind: 'approval', data: { title: 5, actions: [1] } },
    { kind: 'clarification', data: { questions: 'none' } },
    { kind: 'external-event', data: {} },
    { kind: 'of-tomorrow', data: { questions: [] } },
  ])('of any shape has a form: %j', (question) => {
    expect(answerForm(question)).toHaveProperty('kind');
  });

  test('is answered with JSON where the text is JSON', () => {
    expect([typedValue('5'), typedValue('"5"'), typedValue('blue'), typedValue('{"a":1}')]).toEqual([
      5,
      '5',
      'blue',
      { a: 1 },
    ]);
  });
});

describe('a selection of dead letters', () => {
  test('is read from the filters of the address', () => {
    const filters = {
      type: 'run.failed, run.completed',
      status: '500,0',
      since: '2026-01-01T00:00:00Z',
      until: '',
    };
    expect(letterFilter(filters)).toEqual({
      types: ['run.failed', 'run.completed'],
      statuses: [500, 0],
      since: '2026-01-01T00:00:00.000Z',
    });
    expect(letterFilter({})).toEqual({});
  });

  test.each([{ status: '5xx' }, { status: '500, -' }, { status: '5000' }, { since: 'yesterday' }, { until: 'x' }])(
    'selects nothing where a part cannot be read: %o',
    (filters) => expect(letterFilter({ type: 'run.failed', ...filters })).toEqual({ problem: expect.any(String) }),
  );

  test('takes a delivery without an answer for the status 0', () => {
    expect(hasStatus({ statuses: [0] }, undefined)).toBe(true);
    expect(hasStatus({ statuses: [500] }, undefined)).toBe(false);
    expect(hasStatus({}, 503)).toBe(true);
  });
});

test('an audit entry is one sentence, and a refusal is marked', () => {
  const details = {
    operation: 'createRun',
    method: 'POST',
    path: '/v1/runs',
    status: 403,
    allowed: false,
    reason: 'role',
  };
  expect(auditSentence({ action: 'request', details })).toEqual({ text: 'createRun (403, role)', isRefused: true });
  expect(auditSentence({ action: 'webhook.register', details: {} })).toEqual({
    text: 'webhook.register',
    isRefused: false,
  });
});

test('the mounts of a host are read from its discovery document, and of no other origin', () => {
  const found = mountsIn({
    extensions: {
      'example.status': { path: '/host/example/status' },
      'x.evil': { path: 'https://evil.example/status' },
    },
    others: [null, 5, { path: 7 }],
  });
  expect([...found]).toEqual([['status', '/host/example/status']]);
});
