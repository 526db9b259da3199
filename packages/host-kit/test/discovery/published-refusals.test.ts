import { otherValidator, strictValidator } from '@svc/tools/json-schema';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { documentV1 } from '../../src/discovery/document-v1.ts';
import { documentV2 } from '../../src/discovery/document-v2.ts';
import { DISCOVERY_JSON_SCHEMAS } from '../../src/discovery/json-schemas.ts';
import { DISCOVERY_V1 } from '../../src/discovery/schema-v1.ts';
import { DISCOVERY_V2 } from '../../src/discovery/schema-v2.ts';
import { EVERYTHING, facts } from './facts.ts';

type Document = Record<string, unknown>;

const MAJORS: readonly (readonly [1 | 2, z.ZodType, Document])[] = [
  [1, DISCOVERY_V1, documentV1(facts({ families: EVERYTHING }))],
  [2, DISCOVERY_V2, documentV2(facts({ families: EVERYTHING }), '2.0')],
];

/** Changes of a document that each break one rule, for both majors or for one. */
const BROKEN: readonly (readonly [
  why: string,
  majors: readonly (1 | 2)[],
  change: (document: Document) => Document,
])[] = [
  ['a repeated version', [1, 2], (one) => ({ ...one, protocolVersions: ['2.0', '1.1', '2.0'] })],
  [
    'algorithms without v1',
    [1, 2],
    (one) => inRecord(one, 'webhooks', { signatureAlgorithms: ['standard-webhooks-1'] }),
  ],
  ['a repeated algorithm', [1, 2], (one) => inRecord(one, 'webhooks', { signatureAlgorithms: ['v1', 'v1'] })],
  ['durable in major 2', [2], (one) => inRecord(one, 'webhooks', { durable: true })],
  ['experimental without until', [2], (one) => inRecord(one, 'webhooks', { status: 'experimental' })],
  ['stable with until', [2], (one) => inRecord(one, 'webhooks', { until: '2.1' })],
];

describe.each(MAJORS)('the published schema of major %i', (major, schema, document) => {
  const published = DISCOVERY_JSON_SCHEMAS[major];
  const strict = strictValidator(published);
  const other = otherValidator(published);

  test('accepts the document', () => {
    expect([schema.safeParse(document).success, strict(document), other(document)]).toEqual([true, [], true]);
  });

  test.each(BROKEN.filter(([, majors]) => majors.includes(major)))('rejects %s', (_why, _majors, change) => {
    const changed = change(document);
    expect([schema.safeParse(changed).success, strict(changed).length > 0, other(changed)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  test('accepts and rejects as the builder does, for any change of a member', () => {
    const places = [...placesOf(document)];
    const value = fc.oneof(
      fc.constantFrom<unknown>(undefined, null, true, false, 0, -1, 1, 1.5, 1e9, '', 'x', '1.1', '2.0', 'v1', [], {}),
      fc.constantFrom<unknown>(['v1', 'v1'], ['x', 'x'], ['en', 'en'], { status: 'stable' }, 'stable', 'experimental'),
      fc.jsonValue({ maxDepth: 2 }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...places), value, ([path, name], change) => {
        const changed = replaced(document, path, name, change);
        const isAccepted = isAcceptedBy(schema, changed);
        expect([path, name, strict(changed).length === 0, other(changed)]).toEqual([
          path,
          name,
          isAccepted,
          isAccepted,
        ]);
      }),
      { numRuns: 200 },
    );
  });
});

function inRecord(document: Document, name: string, change: object): Document {
  return { ...document, [name]: { ...(document[name] as object), ...change } };
}

type Place = readonly [path: readonly string[], name: string];

/** Every member of the document, and one more of each object. */
function* placesOf(value: unknown, path: readonly string[] = []): Generator<Place> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, 'another'];
  for (const [name, member] of Object.entries(value)) {
    yield [path, name];
    yield* placesOf(member, [...path, name]);
  }
}

function replaced(value: unknown, [first, ...rest]: readonly string[], name: string, change: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item, index) => (String(index) === first ? replaced(item, rest, name, change) : item));
    return first === undefined ? items.with(Number(name), change ?? 'another') : items;
  }
  const copy = { ...(value as Document) };
  if (first !== undefined) copy[first] = replaced(copy[first], rest, name, change);
  else if (change !== undefined) copy[name] = change;
  else delete copy[name];
  return copy;
}

/** A published schema cannot express a relation between two values. */
const RELATIONS: ReadonlySet<string> = new Set([
  'preferredVersion must be one of protocolVersions',
  'preferredVersion must be one of revisions',
  'default must be one of supported',
]);

/** Whether the builder accepts a document, apart from relations between values. */
function isAcceptedBy(schema: z.ZodType, document: unknown): boolean {
  const { success, error } = schema.safeParse(document);
  return success || error.issues.every(({ message }) => RELATIONS.has(message));
}
