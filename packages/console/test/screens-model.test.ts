import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, RunEvent, Series } from '../page/data/shapes.ts';
import { artifactsIn, fileName, sizeText } from '../page/model/artifact-list.ts';
import { discoveryRows, lanesIn } from '../page/model/discovery-rows.ts';
import { letterFilter } from '../page/model/letter-filter.ts';
import { letterQuery } from '../page/model/letter-query.ts';
import { letterSteps, seriesSentence, seriesSteps, stepTime } from '../page/model/series.ts';

const MINUTE = 60_000;
const at = (minute: number) => new Date(minute * MINUTE).toISOString();
const point = (minute: number, delivered: number, failed: number, latency: readonly number[] = []) => ({
  ...{ at: at(minute), delivered, failed, deadLettered: 0, skipped: 0, latency },
});
const series = (points: Series['points'], minutes = 60): Series => ({
  ...{ from: at(0), to: at(minutes), step: 60, latencyBoundsMs: [10, 30, 100, 300, 1000, 3000, 10_000], points },
});

describe('a chart', () => {
  test('has every step, and the sums of its bars are those of the series', () => {
    const points = fc
      .uniqueArray(fc.nat({ max: 59 }), { maxLength: 60 })
      .chain((minutes) =>
        fc.tuple(
          ...minutes.map((minute) => fc.tuple(fc.nat(), fc.nat()).map(([good, bad]) => point(minute, good, bad))),
        ),
      );
    fc.assert(
      fc.property(points, (given) => {
        const steps = seriesSteps(series(given));
        expect(steps).toHaveLength(60);
        expect(steps.map((step) => step.at)).toEqual(Array.from({ length: 60 }, (_, index) => index * MINUTE));
        const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0);
        expect(sum(steps.map(({ up }) => up))).toBe(sum(given.map(({ delivered }) => delivered)));
        expect(sum(steps.map(({ down }) => down))).toBe(sum(given.map(({ failed }) => failed)));
      }),
    );
  });

  test('of a range without end is bounded, and one that cannot be read is empty', () => {
    expect(seriesSteps(series([], 10_000_000))).toHaveLength(1500);
    expect(seriesSteps({ ...series([]), step: 0 })).toEqual([]);
    expect(seriesSteps({ ...series([]), from: 'never' })).toEqual([]);
  });

  test.each([1e20, 1e13, 1e11, 3600])('of steps of %d s has times that can be written, or no step', (step) => {
    const times = ['-271821-04-20T00:00:00Z', '+275760-09-13T00:00:00Z', 'never'].map((at) => ({ at, count: 1 }));
    const facets = { matching: 0, lookedAt: 0, isComplete: true, eventTypes: [], statuses: [], step };
    const lists = [[], ...times.map((one) => [one]), Array.from({ length: 200_000 }, () => ({ at: at(1), count: 1 }))];
    const charts = [
      ...lists.map((each) => letterSteps({ ...facets, times: each }, 0)),
      ...times.flatMap((from) => times.map((to) => seriesSteps({ ...series([]), step, from: from.at, to: to.at }))),
    ];
    for (const steps of charts) {
      // The end of the last step is written too.
      for (const time of steps.flatMap((each) => [each.at, each.at + 1000 * step])) {
        expect(stepTime(time, 1)).toMatch(/^[0-9:]+$/);
      }
    }
  });

  test('says its sums, and how long the attempts took', () => {
    expect(seriesSentence(series([]))).toBe('No attempt was made in this time.');
    const latency = [0, 98, 0, 0, 0, 0, 0, 2];
    expect(seriesSentence(series([point(1, 98, 2, latency)]))).toBe(
      '98 attempts delivered, 2 failed. Half of the attempts took at most 30 ms, and 99 % took more than 10 s.',
    );
  });

  test('of dead letters begins with the first one, and has a day at least', () => {
    const facets = { matching: 0, lookedAt: 0, isComplete: true, eventTypes: [], statuses: [], step: 3600 };
    const now = 1000 * 3_600_000;
    expect(letterSteps({ ...facets, times: [] }, now)).toHaveLength(24);
    const steps = letterSteps(
      { ...facets, times: [{ at: new Date(now - 40 * 3_600_000).toISOString(), count: 3 }] },
      now,
    );
    expect(steps).toHaveLength(41);
    expect(steps[0]).toMatchObject({ at: now - 40 * 3_600_000, up: 3 });
  });
});

test('the counts of dead letters have the selection of the list', () => {
  const selection = letterFilter({ type: 'run.completed run.failed', status: '500,0', since: '2026-01-01T00:00Z' });
  if ('problem' in selection) throw new Error(selection.problem);
  expect(Object.fromEntries(new URLSearchParams(letterQuery(selection)))).toEqual({
    ...{ types: 'run.completed,run.failed', statuses: '500,0', since: '2026-01-01T00:00:00.000Z' },
  });
  expect(letterQuery({})).toBe('');
});

describe('the artifacts of a run', () => {
  const event = (type: string, payload: Json, sequence = 0): RunEvent => ({
    ...{ eventId: 'evt', runId: 'run', type, sequence, timestamp: at(1), payload },
  });

  test('are those that its log names, and a payload of another form names none', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (payloads) => {
        const events = payloads.map((payload) => event('artifact.created', JSON.parse(JSON.stringify(payload))));
        for (const { artifactId } of artifactsIn(events)) expect(artifactId).not.toBe('');
      }),
    );
    const good = event('artifact.created', { artifactId: 'art_1', artifactType: 'draft', summary: 'A draft' });
    expect(artifactsIn([event('node.started', { artifactId: 'art_2' }), good])).toEqual([
      { artifactId: 'art_1', type: 'draft', nodeId: undefined, createdAt: at(1), summary: 'A draft' },
    ]);
  });

  test('have names that are files of data, with any ids', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (id) => {
        expect(fileName(id)).toMatch(/^[A-Za-z0-9_-]{1,100}\.json$/);
      }),
    );
    expect(fileName('../../.bashrc')).toBe('_______bashrc.json');
    expect(fileName('')).toBe('artifact.json');
  });

  test.each([
    [999, '999 B'],
    [1000, '1.0 kB'],
    [2_500_000, '2.5 MB'],
  ])('of %d bytes have the size %s', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});

describe('two discovery documents', () => {
  test('have each member once, with the value of each', () => {
    expect(
      discoveryRows({ a: { b: 1, c: [] }, capabilities: { a: { b: 1, c: [1] } } }, { a: { b: 1 }, d: {} }),
    ).toEqual([
      { path: 'a.b', one: '1', two: '1' },
      { path: 'a.c', one: '[]', two: undefined },
      { path: 'capabilities.a.c', one: '[1]', two: undefined },
      { path: 'd', one: undefined, two: '{}' },
    ]);
  });

  test('of any form are compared, and equal ones have no difference', () => {
    const json = fc.jsonValue().map((value): Json => JSON.parse(JSON.stringify(value)));
    fc.assert(
      fc.property(json, json, (one, two) => {
        expect(discoveryRows(one, one).every((row) => row.one === row.two)).toBe(true);
        const paths = discoveryRows(one, two).map(({ path }) => path);
        expect(new Set(paths).size).toBe(paths.length);
        lanesIn(one);
      }),
    );
  });

  test('name the lanes, and none where there is none', () => {
    const lane = { lane: 'api-key', issuers: ['urn:x'], revocation: 'next-request', minimumAssurance: 'bearer' };
    expect(lanesIn({ auth: { lanes: [lane, null, 5] } })).toEqual([
      { lane: 'api-key', issuers: ['urn:x'], revocation: 'next-request', assurance: 'bearer' },
    ]);
    expect(lanesIn(undefined)).toEqual([]);
  });
});
