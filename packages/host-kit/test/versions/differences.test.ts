import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../src/json.ts';
import { DIFFERENCE_KINDS, differencesOf, MOST_DIFFERENCES } from '../../src/versions/differences.ts';
import { MirrorReport, MOST_LISTED } from '../../src/versions/mirror-report.ts';

const NAMES = new Set(['runId', 'status', 'tags', 'owner']);

test.each<[string, Json, Json, readonly string[]]>([
  ['equal documents in another order of names', { runId: 'a', tags: [1] }, { tags: [1], runId: 'a' }, []],
  ['another value', { status: 'running' }, { status: 'done' }, ['/status value']],
  ['another type', { status: null }, { status: 'done' }, ['/status type']],
  ['a missing member', { owner: {}, runId: 'a' }, { runId: 'a' }, ['/owner missing']],
  ['a further member', { runId: 'a' }, { runId: 'a', owner: {} }, ['/owner extra']],
  ['a name that a caller chose', { tags: { secret: 1 } }, { tags: { secret: 2 } }, ['/tags/? value']],
  ['a shorter list', { tags: [1, 2] }, { tags: [1] }, ['/tags length']],
  ['another order', { tags: [{ a: 1, b: 2 }, 2] }, { tags: [2, { b: 2, a: 1 }] }, ['/tags order']],
  ['an entry of a list', { tags: [1, 2, 3] }, { tags: [1, 3, 4] }, ['/tags/* value']],
  ['a list in place of an object', { tags: [] }, { tags: {} }, ['/tags type']],
  ['an empty list in place of an empty object', {}, [], [' type']],
  ['other documents', 1, '1', [' type']],
])('%s', (_what, one, other, expected) => {
  expect(differencesOf(one, other, NAMES).map(({ pointer, kind }) => `${pointer} ${kind}`)).toEqual(expected);
});

test('documents differ exactly when they are not equal, and a pointer tells only defined names', () => {
  const json = fc.jsonValue({ maxDepth: 5 }).map((value): Json => JSON.parse(JSON.stringify(value)));
  const pointer = /^(?:\/(?:\*|\?|runId|status|tags|owner))*$/;
  fc.assert(
    fc.property(json, json, (one, other) => {
      expect(differencesOf(one, one, NAMES)).toEqual([]);
      const found = differencesOf(one, other, NAMES);
      const areEqual = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
      expect(found.length === 0).toBe(areEqual);
      expect(found.length).toBeLessThanOrEqual(MOST_DIFFERENCES);
      for (const each of found) {
        expect(each.pointer).toMatch(pointer);
        expect(DIFFERENCE_KINDS).toContain(each.kind);
      }
    }),
  );
});

test('a deep document, and a member called __proto__, are compared', () => {
  const deep = (leaf: string): Json => JSON.parse(`${'['.repeat(300)}"${leaf}"${']'.repeat(300)}`);
  expect(differencesOf(deep('a'), deep('a'), NAMES)).toEqual([]);
  expect(differencesOf(deep('a'), deep('b'), NAMES)).toHaveLength(1);
  expect(differencesOf(JSON.parse('{"__proto__":{"a":1}}'), {}, NAMES)).toEqual([{ pointer: '/?', kind: 'missing' }]);
});

test('a document is read the same few times, however deep its lists are', () => {
  let reads = 0;
  const counted = {
    get a() {
      reads += 1;
      return 1;
    },
  };
  const readsAt = (depth: number) => {
    const nested = (leaf: Json) => Array.from({ length: depth }).reduce<Json>((inner) => [inner], [leaf, counted]);
    reads = 0;
    expect(differencesOf(nested(1), nested(2), NAMES)).toHaveLength(1);
    return reads;
  };
  expect(readsAt(28)).toBe(readsAt(1));
});

test('a report lists so many differences, and counts the others', () => {
  const none = () => {};
  let now = 5;
  const report = new MirrorReport({ compared: none, different: none, skipped: none }, () => now++);
  for (let turn = 0; turn <= MOST_LISTED; turn++) {
    report.add({ operation: 'readRun', major: 1 }, [{ pointer: `/${turn}`, kind: 'value' }]);
  }
  report.add({ operation: 'readRun', major: 1 }, [{ pointer: '/0', kind: 'value' }]);
  const { differences, unlisted, since } = report.read();
  expect([differences.length, unlisted, since]).toEqual([MOST_LISTED, 1, 5]);
  expect(differences[0]).toMatchObject({ pointer: '/0', reads: 2, firstAt: 6 });
});

/** Sorts the names of every object. */
/** The value with the members of each object in one order. An object stays apart from a list: `{}` is not `[]`. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => [name, sorted(each ?? null)]);
  return { members };
}
