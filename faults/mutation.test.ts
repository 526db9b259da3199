import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { chance } from '@svc/tools/chance';
import '@svc/tools/property-seed';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Exchange, Said } from './exchange.ts';
import { changing, framesIn, textOf } from './frames.ts';
import { mutant } from './generate.ts';
import { described, type FrameMutation, frameChange, type Mutation, mutated } from './mutation.ts';
import { placesIn, replacedAt, valuesAt } from './places.ts';

const ASKED = { method: 'GET', target: '/runs/r', headers: {}, body: '' };
const none = () => undefined;
const json = (value: unknown): Said => ({ status: 200, headers: { vary: ['a'] }, body: JSON.stringify(value) });
const changed = (mutation: Mutation, said: Said) => mutated(mutation, { said, asked: ASKED }, none);

describe('a mutation of JSON', () => {
  const value = { a: { b: [{ c: 'acme/x' }, { c: 'y' }] }, d: 1 };

  test.each([
    [
      { act: 'drop member', place: ['a', 'b', '*', 'c'] },
      { a: { b: [{}, {}] }, d: 1 },
    ],
    [{ act: 'drop member', place: ['d'] }, { a: value.a }],
    [
      { act: 'rename member', place: ['d'], to: 'e' },
      { a: value.a, e: 1 },
    ],
    [
      { act: 'change member', place: ['d'], to: { how: 'plus', number: 1 } },
      { a: value.a, d: 2 },
    ],
    [
      { act: 'change member', place: ['a', 'b', '*', 'c'], to: { how: 'without tenant' } },
      { a: { b: [{ c: 'x' }, { c: 'y' }] }, d: 1 },
    ],
    [
      { act: 'change member', place: ['d'], to: { how: 'as text' } },
      { a: value.a, d: '1' },
    ],
    [
      { act: 'add member', place: ['a'], name: 'z' },
      { a: { ...value.a, z: true }, d: 1 },
    ],
    [
      { act: 'reverse items', place: ['a', 'b'] },
      { a: { b: [{ c: 'y' }, { c: 'acme/x' }] }, d: 1 },
    ],
    [
      { act: 'repeat item', place: ['a', 'b'] },
      { a: { b: [{ c: 'acme/x' }, { c: 'acme/x' }, { c: 'y' }] }, d: 1 },
    ],
    [
      { act: 'drop item', place: ['a', 'b'] },
      { a: { b: [{ c: 'y' }] }, d: 1 },
    ],
  ] as const)('%j', (mutation, expected) => {
    expect(JSON.parse(changed(mutation, json(value)).body)).toEqual(expected);
  });

  test('leaves the bytes alone where its place does not exist', () => {
    const said = { ...json({}), body: '{ "a" : 1 }' };
    expect(changed({ act: 'drop member', place: ['b'] }, said)).toEqual(said);
  });
});

test('every place of a value is found, and replacing a value there by itself changes nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const same = JSON.parse(JSON.stringify(value));
      for (const place of placesIn(same)) {
        expect(valuesAt(same, place).length).toBeGreaterThan(0);
        expect(replacedAt(same, place, (by) => ({ by }))).toEqual(same);
      }
    }),
  );
});

test('a delivery that is changed and signed again has a right signature, and one that is not has a wrong one', () => {
  const headers = { 'svc-webhook-id': ['w'], 'svc-timestamp': ['7'], 'svc-signature': ['sha256=0'] };
  const said: Said = { status: undefined, headers, body: '{"a":1}' };
  const change = { act: 'drop member', place: ['a'] } as const;
  const secretOf = (id: string) => (id === 'w' ? 'key' : undefined);
  const again = mutated({ act: 'sign again', after: change }, { said, asked: ASKED }, secretOf);
  // echo -n '7.{}' | openssl dgst -sha256 -hmac key
  expect(again.headers['svc-signature']).toEqual([
    'sha256=77bc83bd1f40422311e47918b203449aecf84b02c1568bb1b570ac2a474cc2d8',
  ]);
  expect(changed(change, said).headers['svc-signature']).toEqual(['sha256=0']);
});

describe('a mutation of a stream', () => {
  const whole = [0, 1, 2].map((id) => `id: ${id}\nevent: e\ndata: {"n":${id}}\n\n`).join(': alive\n\n');
  const ids = (said: string) =>
    framesIn(said).flatMap((frame) => frame.filter(([name]) => name === 'id').map(([, id]) => id));
  const CASES: readonly (readonly [FrameMutation, readonly string[]])[] = [
    [{ act: 'drop frame', at: 1 }, ['0', '2']],
    [{ act: 'repeat frame', at: 1 }, ['0', '1', '1', '2']],
    [{ act: 'swap frames', at: 0 }, ['1', '0', '2']],
    [{ act: 'end stream', at: 2 }, ['0', '1']],
    [{ act: 'change field of frames', name: 'id', to: { how: 'append', text: '1' } }, ['01', '11', '21']],
  ];

  test.each(CASES)('%j is the same for a recorded text and for an open stream', async (mutation, expected) => {
    const said: Said = { status: 200, headers: { 'content-type': ['text/event-stream'] }, body: whole };
    const recorded = changed(mutation, said).body;
    // Chunks that end anywhere.
    const open = Readable.from(whole.match(/[\s\S]{1,7}/g) ?? []).pipe(changing(frameChange(mutation)));
    expect(ids(recorded)).toEqual(expected);
    expect(await text(open)).toBe(recorded);
  });

  test('writes what it reads', () => {
    expect(textOf(framesIn(whole))).toBe(whole);
  });
});

describe('the generator', () => {
  const exchange = (body: unknown, status = 200): Exchange => ({
    asked: ASKED,
    said: { ...json(body), status },
    kind: { operation: 'GET /runs/{runId}', major: 2, status, detail: '' },
    at: 0,
  });
  const recorded = [
    {
      kind: exchange({}).kind,
      exchanges: [exchange({ runId: 'acme/r', tags: ['t'], n: 1 }), exchange({ runId: 'acme/s' })],
    },
  ];
  const names = (seed: number) => {
    const source = chance(seed);
    return Array.from({ length: 50 }, () => described(mutant(source, recorded).mutation));
  };

  test('gives the same mutants for the same seed, and others for another', () => {
    expect(names(7)).toEqual(names(7));
    expect(names(7)).not.toEqual(names(8));
  });

  test('changes headers, statuses and bodies', () => {
    const acts = new Set(
      names(1)
        .concat(names(2), names(3))
        .map((name) => name.split(' ').slice(0, 3).join(' ')),
    );
    expect([...acts]).toEqual(
      expect.arrayContaining(['without the header', 'with the header', 'with the status', 'with the answer']),
    );
    expect([...acts].some((name) => name.startsWith('drop member'))).toBe(true);
  });
});
