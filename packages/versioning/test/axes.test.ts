import { readFileSync } from 'node:fs';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  AXES,
  BUNDLE_VERSIONS,
  checkVendoredReference,
  compareSemanticVersions,
  ENGINE_VERSION_TEXT,
  EVENT_LOG_SCHEMA_VERSION,
  inSemanticRange,
  isReleaseTag,
  MAX_EXECUTION_MODEL,
  packRunsOn,
  parseSemanticVersion,
  readEngineVersion,
  readEventLogSchemaVersion,
  typeVersionOf,
} from '../src/axes/index.ts';
import { axesTable } from './axes-table.ts';

const axis = (number: number) => {
  const found = AXES.find((one) => one.number === number);
  if (found === undefined) throw new Error(`There is no axis ${number}.`);
  return found;
};

describe(covers('versioning.axes.table'), () => {
  test('has eighteen axes with the numbers of the interface, each with a form and a rule', () => {
    expect(AXES.map(({ number }) => number)).toEqual(Array.from({ length: 18 }, (_, index) => index + 1));
    for (const { name, form, rule } of AXES) expect(Math.min(name.length, form.length, rule.length)).toBeGreaterThan(2);
  });

  test('equals the table of the documentation', () => {
    expect(readFileSync(new URL('../../../docs/version-axes.md', import.meta.url), 'utf8')).toBe(axesTable());
  });
});

describe(covers('versioning.axes.signature-scheme'), () => {
  test('accepts no value on a retired axis', () => {
    expect(AXES.filter(({ retired }) => retired).map(({ number }) => number)).toEqual([8, 17]);
    for (const value of ['v1', '', 1, {}, null])
      expect([axis(8).accepts(value), axis(17).accepts(value)]).toEqual([false, false]);
  });
});

describe(
  covers(
    'versioning.axes.engine-version',
    'versioning.axes.event-log-schema-floor',
    'versioning.axes.version-pinned',
    'versioning.axes.minimum-suite-version',
    'versioning.axes.bundle-version',
    'versioning.axes.a2a-versions',
    'versioning.axes.mcp-revisions',
    'versioning.axes.execution-model',
    'versioning.axes.channel-version',
    'versioning.axes.pack-versions',
    'versioning.client.minimum-grammar',
  ),
  () => {
    test.each([
      [1, ['1.1', '2.0', '0.0', '10.200'], ['1', '1.', '01.1', '1.01', '1.1.1', 'v1.1', '', 1.1, null]],
      [2, ['1.1', '2.0'], ['2', ['2.0']]],
      [3, [0, 1, 12], [-1, 1.5, '1', null, Number.NaN, 2 ** 53]],
      [4, [2, 3, 4], [1, 0, -1, 2.5, '2', undefined]],
      [5, [1, 2], ['1', 1.5]],
      [6, [{}, { error: 1 }], [{ error: '1' }, [], null, 1]],
      [
        7,
        [
          { min: 1, max: 2 },
          { min: 0, max: 0 },
        ],
        [{ min: 2, max: 1 }, { min: 1 }, { min: '1', max: 2 }, { min: 1, max: 2, x: 1 }, 1],
      ],
      [9, ['1.0.0', '2.35.0', '1.0.0-rc.1+build'], ['1.0', '01.0.0', '1.0.0-', '1.0.0-01', 'v1.0.0', 1]],
      [10, ['2', '3'], ['1', '4', 2, '2.0']],
      [11, ['1.0', '0.3', '10.20'], ['1', '1.0.0', 'v1.0', 1.0]],
      [12, ['2026-07-28', '2024-02-29'], ['2026-7-28', '2026-02-30', '2025-02-29', '2026-13-01', '20260728', 20260728]],
      [13, [1, MAX_EXECUTION_MODEL], [0, MAX_EXECUTION_MODEL + 1, 1.5, '1']],
      [14, ['2.0.0'], ['2.0']],
      [15, ['1.0'], ['1.0.0', 'latest']],
      [16, [1, { min: 1, max: 3 }], ['1', { min: 3, max: 1 }]],
      [
        18,
        ['1.2.3', '>=1.0.0 <2.0.0', '^1.2.3', '~1.2.3', '*', '1.0.0 || 2.0.0'],
        ['', '>=1', 'latest', '>=1.0.0 &&', '^'],
      ],
    ] as const)('checks the values of axis %i', (number, accepted, refused) => {
      for (const value of accepted) expect([value, axis(number).accepts(value)]).toEqual([value, true]);
      for (const value of refused) expect([value, axis(number).accepts(value)]).toEqual([value, false]);
    });

    test.each([
      [1, ['0.9', '1.1', '1.9', '1.10', '2.0', '10.0']],
      [3, [0, 1, 10]],
      [
        9,
        [
          '1.0.0-alpha',
          '1.0.0-alpha.1',
          '1.0.0-alpha.beta',
          '1.0.0-beta',
          '1.0.0-beta.2',
          '1.0.0-beta.11',
          '1.0.0-rc.1',
          '1.0.0',
          '1.0.1',
          '1.10.0',
          '2.0.0',
        ],
      ],
      [11, ['0.3', '1.0', '1.9', '1.10', '10.0']],
      [12, ['2025-06-18', '2026-07-28']],
    ] as const)('orders the values of axis %i', (number, ascending) => {
      const { compare } = axis(number);
      const values: readonly unknown[] = ascending;
      for (const [index, a] of values.entries()) {
        for (const [other, b] of values.entries()) {
          expect([a, b, Math.sign(compare?.(a, b) ?? Number.NaN)]).toEqual([a, b, Math.sign(index - other)]);
        }
      }
    });

    test('has a constant version for each kind of bundle', () => {
      expect(BUNDLE_VERSIONS).toEqual({ certification: '3', export: '2', debug: '2' });
    });
  },
);

describe(covers('versioning.axes.engine-version-legacy-string', 'versioning.axes.engine-version-migration'), () => {
  test.each([
    [7, 7],
    ['7', 7],
    ['0', 0],
    ['007', undefined],
    ['1.0', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    [' 7', undefined],
    ['', undefined],
    ['9007199254740993', undefined],
    [null, undefined],
    [undefined, undefined],
    [1.5, undefined],
  ])('reads %j as %s', (stored, expected) => {
    expect(readEngineVersion(stored)).toBe(expected);
  });

  test('the migration accepts exactly the decimal integers without leading zeros', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.nat().map(String)), (text) => {
        const isDecimal = /^\d+$/.test(text) && (text === '0' || !text.startsWith('0')) && /^[0-9]+$/.test(text);
        expect(ENGINE_VERSION_TEXT.test(text)).toBe(isDecimal);
      }),
    );
  });
});

describe(covers('versioning.axes.event-log-schema-absent'), () => {
  test('reads a run of major 1 as 2, and gives new runs 3', () => {
    expect([readEventLogSchemaVersion(undefined), readEventLogSchemaVersion(3), EVENT_LOG_SCHEMA_VERSION]).toEqual([
      2, 3, 3,
    ]);
    for (const stored of [1, 0, '3', null, 2.5]) expect(readEventLogSchemaVersion(stored)).toBeUndefined();
  });
});

describe(covers('versioning.axes.type-id-version'), () => {
  test.each([
    ['acme.send@1.2.3', '1.2.3'],
    ['@acme/send@2.0.0-rc.1', '2.0.0-rc.1'],
    ['acme.send', undefined],
    ['acme.send@2', undefined],
    ['@2.0.0', undefined],
  ])('finds in %s the version %s', (text, version) => {
    expect(typeVersionOf(text)).toBe(version);
  });
});

describe('ranges of semantic versions', () => {
  test.each([
    ['1.5.0', '>=1.0.0 <2.0.0', true],
    ['2.0.0', '>=1.0.0 <2.0.0', false],
    ['2.0.0-rc.1', '>=1.0.0 <2.0.0', false],
    ['1.2.3', '^1.2.0', true],
    ['2.0.0-alpha', '^1.2.0', false],
    ['0.2.9', '^0.2.3', true],
    ['0.3.0', '^0.2.3', false],
    ['0.0.4', '^0.0.3', false],
    ['1.2.9', '~1.2.3', true],
    ['1.3.0', '~1.2.3', false],
    ['3.0.0', '1.0.0 || >=3.0.0', true],
    ['1.0.0-rc.2', '>=1.0.0-rc.1', true],
    ['1.1.0-rc.2', '>=1.0.0-rc.1', false],
    ['1.0.0', '*', true],
    ['1.0.0', 'x', undefined],
  ])('%s lies in %s: %s', (version, range, expected) => {
    const parsed = parseSemanticVersion(version);
    expect(parsed !== undefined && inSemanticRange(parsed, range)).toBe(expected);
  });

  test('orders versions totally', () => {
    const version = fc
      .tuple(fc.nat(3), fc.nat(3), fc.nat(3), fc.option(fc.constantFrom('a', '1', '10', 'a.1', 'a.b')))
      .map(([major, minor, patch, pre]) => `${major}.${minor}.${patch}${pre === null ? '' : `-${pre}`}`);
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        const order = (x: string, y: string) => {
          const [left, right] = [parseSemanticVersion(x), parseSemanticVersion(y)];
          return left === undefined || right === undefined
            ? Number.NaN
            : Math.sign(compareSemanticVersions(left, right));
        };
        expect(order(a, b) + order(b, a)).toBe(0);
        expect(order(a, b) === 0).toBe(a === b);
        if (order(a, b) <= 0 && order(b, c) <= 0) expect(order(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });

  test.each([
    ['>=1.2.0', '1.9.0', true],
    ['>=1.2.0', '2.0.0', false],
    ['>=1.2.0 <4.0.0', '3.0.0', true],
    ['^1.2.0', '1.9.0', true],
    ['>=1.0.0 || >=3.0.0', '3.1.0', true],
    ['>=1.0.0 || >=3.0.0', '2.1.0', false],
    ['*', '9.0.0', true],
    ['>=2.0.0', '1.0.0', false],
    ['nonsense', '1.0.0', undefined],
    ['*', 'nonsense', undefined],
  ])('a pack for %s runs on %s: %s', (range, engine, expected) => {
    expect(packRunsOn(range, engine)).toBe(expected);
  });
});

describe(covers('versioning.release.tag-form'), () => {
  test.each(['v2.0.0', 'v2.10.3', 'v2.0.0-rc.1', 'v2.0.0-rc.0'])('accepts the tag %s', (tag) =>
    expect(isReleaseTag(tag)).toBe(true),
  );
  test.each(['2.0.0', 'v2.0', 'v3.0.0', 'v1.0.0', 'v2.1.0-rc.1', 'v2.0.0-beta', 'v2.01.0', 'main'])(
    'rejects the tag %s',
    (tag) => expect(isReleaseTag(tag)).toBe(false),
  );
});

describe(covers('versioning.release.vendored-tag', 'versioning.release.v1-no-v2-schemas'), () => {
  test.each([
    ['v2.1.0', 2],
    ['v2.0.0-rc.1', 2],
    ['v1.4.0', 2],
    ['v1.4.0', 1],
  ] as const)('accepts %s for a consumer of major %s', (reference, consumer) => {
    expect(() => checkVendoredReference(reference, consumer)).not.toThrow();
  });

  test.each([
    ['main', 2, /published tag/],
    ['a1b2c3d', 2, /published tag/],
    ['v2', 2, /published tag/],
    ['v2.1.0', 1, /must not vendor files of major 2/],
    ['v2.0.0-rc.1', 1, /must not vendor/],
  ] as const)('rejects %s for a consumer of major %s', (reference, consumer, problem) => {
    expect(() => checkVendoredReference(reference, consumer)).toThrow(problem);
  });
});
