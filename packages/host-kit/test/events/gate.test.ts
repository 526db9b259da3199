import { covers } from '@svc/tools/covers';
import { strictValidator } from '@svc/tools/json-schema';
import { EVENT_TYPES_V1, EVENT_TYPES_V2 } from '@svc/webhook-verify/events';
import { describe, expect, test } from 'vitest';
import { EVENT_TYPES, type EventType, payloadExample, typeName } from '../../src/events/event-types.ts';
import { held, judged } from '../../src/events/gate.ts';
import { isReserved } from '../../src/execution/engine-events.ts';
import type { Json, JsonObject } from '../../src/json.ts';
import type { NewEvent } from '../../src/ports/engine.ts';
import { sampleRun } from '../../src/testing/store-contract/samples.ts';
import { renderDelivery } from '../../src/wire/delivery.ts';
import { DELIVERY_JSON_SCHEMAS } from '../../src/wire/delivery-schema.ts';

const TYPES = [...EVENT_TYPES.values()];
const problemsOf = { 1: strictValidator(DELIVERY_JSON_SCHEMAS[1]), 2: strictValidator(DELIVERY_JSON_SCHEMAS[2]) };
const RUN = 'run_01k0p3v5tq9d8m2x4c6b8n0r1s';

/** A delivery of a type with a payload, in a major. */
function delivered(major: 1 | 2, type: string, payload: unknown): object {
  const runId = major === 1 ? RUN : `acme/${RUN}`;
  const event = {
    eventId: 'evt_01k0p3v5tq9d8m2x4c6b8n0r1s',
    runId,
    type,
    sequence: 0,
    schemaVersion: 1,
    engineVersion: 1,
  };
  return { runId, workspaceId: 'acme-prod', event: { ...event, timestamp: '2026-09-21T08:30:00.000Z', payload } };
}

/** The refusal of an event; undefined when it is held. */
function refusal(type: string, payload: Json): string | undefined {
  try {
    held({ type, payload });
    return undefined;
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

/** The payload without one of its members. */
const without = (payload: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(payload).filter(([member]) => member !== name));

/**
 * A payload as the log stores it: its ids without their tenants. A question is stored with its place, which the majors
 * show in part.
 */
function storedExample({ type, example }: EventType): JsonObject {
  return type.endsWith('.requested') && type !== 'compensation.requested'
    ? { ...example, nodeId: 'gate', interruptId: 'int_1', requestedAt: 0 }
    : withoutTenants(example);
}

const requiredOf = ({ payload }: EventType): readonly string[] => Object(payload.schema).required ?? [];

describe(covers('events.gate.vocabulary'), () => {
  test('the table has every type of both majors, once', () => {
    expect(TYPES.length).toBe(117);
    expect(new Set(TYPES.map(({ type }) => type))).toEqual(EVENT_TYPES_V2);
    expect(new Set(TYPES.map(({ typeInMajor1 }) => typeInMajor1))).toEqual(EVENT_TYPES_V1);
  });

  test.each(TYPES)('$type is stored under the name of major 2 in either spelling', (of) => {
    const payload = storedExample(of);
    expect(held({ type: of.type, payload }).type).toBe(of.type);
    expect(held({ type: of.typeInMajor1, payload }).type).toBe(of.type);
  });

  test.each([
    ['nonsense', 'nonsense: is no event type. The nearest is '],
    ['agent.tool-caled', 'agent.tool-caled: is no event type. The nearest is agent.tool-called;'],
    ['agent.toolCaled', 'agent.toolCaled: is no event type. The nearest is agent.tool'],
    ['Run.Completed', 'Run.Completed: is no event type. The nearest is run.completed;'],
    ['node.exploded', 'node.exploded: is no event type. The nearest is node.'],
    ['svc.order', 'svc.order: is no event type.'],
    ['vendor.order', 'vendor.order: is no event type.'],
    ['acme.Order', 'acme.Order: is no event type.'],
    ['acme', 'acme: is no event type.'],
    ['acme.a.b.c', 'acme.a.b.c: is no event type.'],
    ['acme.odd\nid: 7', 'acme.odd\nid: 7: is no event type.'],
    ['', ': is no event type.'],
    ['x'.repeat(100_000), `${'x'.repeat(128)}: is no event type.`],
  ])('the type %j is refused', (type, refused) => {
    expect(refusal(type, {})).toContain(refused);
  });

  test.each(['acme.order-shipped', 'acme-labs.order', 'acme.order.shipped-2'])(
    'the vendor type %s is taken',
    (type) => {
      for (const payload of [{}, 'any', null, [1], { anything: { at: 'all' } }])
        expect(refusal(type, payload)).toBe(undefined);
      for (const major of [1, 2] as const) expect(problemsOf[major](delivered(major, type, 'any'))).toEqual([]);
    },
  );
});

describe(covers('events.gate.payloads', 'webhooks.body.v2-schema-valid'), () => {
  test.each(TYPES)('$type: its example is valid in both majors, and a broken payload in none', (type) => {
    for (const major of [1, 2] as const) {
      const name = typeName(major, type);
      expect(problemsOf[major](delivered(major, name, payloadExample(major, type)))).toEqual([]);
      for (const broken of ['bad', null, 7, [], undefined]) {
        expect(problemsOf[major](delivered(major, name, broken))).not.toEqual([]);
      }
    }
    expect(refusal(type.type, storedExample(type))).toBe(undefined);
    for (const broken of ['bad', null, 7, []])
      expect(refusal(type.type, broken)).toContain(`${type.type}: payload must`);
  });

  test.each(TYPES.filter(({ isDescribed, stored }) => isDescribed && stored === undefined))(
    '$type: gate and schema refuse a payload without a required member, and with an unknown one',
    (type) => {
      for (const name of requiredOf(type)) {
        const broken = without(type.example, name);
        expect(refusal(type.type, broken)).toBe(`${type.type}: payload.${name} is missing.`);
        expect(problemsOf[2](delivered(2, type.type, broken))).not.toEqual([]);
      }
      const isOpen = type.type === 'run.resumed';
      const foreign = { ...type.example, foreign: 1 };
      expect(refusal(type.type, foreign) === undefined).toBe(isOpen);
      expect(problemsOf[2](delivered(2, type.type, foreign)).length === 0).toBe(isOpen);
      // Members with a prefix are carried, except in `workspace.updated`, which has no content.
      const extended = { ...type.example, 'x-acme': { any: [1] } };
      const isExact = type.type === 'workspace.updated';
      expect(refusal(type.type, extended) === undefined).toBe(!isExact);
      expect(problemsOf[2](delivered(2, type.type, extended)).length === 0).toBe(!isExact);
    },
  );

  test.each<[string, Json, string]>([
    ['node.completed', { nodeId: 'a b' }, 'payload.nodeId must match'],
    ['node.started', { nodeId: 'n', typeId: 't', attempt: -1 }, 'payload.attempt must be a whole number of at least 0'],
    ['node.started', { nodeId: 'n', typeId: 't', attempt: 0.5 }, 'payload.attempt must be a whole number'],
    ['node.failed', { nodeId: 'n', error: { code: 1, message: 'm' } }, 'payload.error.code must be text'],
    ['node.failed', { nodeId: 'n', error: { code: 'c', message: 'm', more: 1 } }, 'payload.error.more is no member'],
    [
      'node.started',
      { nodeId: 'n', typeId: '' },
      'payload.typeId must be text of at least 1 and at most 256 characters',
    ],
    ['log.appended', { level: 'loud', message: 'm' }, 'payload.level must be one of debug, info, warn, error'],
    ['log.appended', { level: 'info', message: 'm', fields: [] }, 'payload.fields must be an object'],
    ['run.started', { workflowId: 'w', tags: ['a', 7] }, 'payload.tags.1 must be text'],
    ['cap.breached', { kind: 'k', limit: Number.NaN, observed: 1 }, 'payload.limit must be a number'],
    ['version.pinned', { changeId: 'c', version: true }, 'payload.version must be text'],
    ['output.chunk', { nodeId: 'n', chunk: 'c', isLast: 'yes' }, 'payload.isLast must be true or false'],
    ['trigger.delivery.attempted', { outcome: 'lost' }, 'payload.outcome must be one of'],
  ])('%s with %j: the error names type, path and rule', (type, payload, rule) => {
    expect(refusal(type, payload)).toContain(`${type}: ${rule}`);
  });

  // Ids are the values that the majors show in different forms.
  test.each<[string, (id: string) => JsonObject]>([
    ['trigger.delivery-attempted', (runId) => ({ runId })],
    ['replay.diverged', (sourceRunId) => ({ sourceRunId, atSequence: 0 })],
  ])('%s: an id that major 2 could not bind to a tenant is refused', (type, payload) => {
    for (const id of [
      'short',
      'x',
      'foo/bar',
      `acme/${RUN}`,
      'a b',
      '',
      'é'.repeat(20),
      `${RUN}\u0000`,
      'x'.repeat(129),
    ])
      expect(refusal(type, payload(id))).toContain(`${type}: payload.`);
    expect(refusal(type, payload(RUN))).toBe(undefined);
  });

  test('a payload that the gate takes is delivered valid in both majors, however it is mutated', () => {
    const run = sampleRun({ runId: RUN, workspace: 'acme-prod' });
    const taken = new Map<string, number>();
    for (const { type, example } of TYPES.filter(({ type, isDescribed }) => isDescribed && !isReserved(type))) {
      const bare = withoutTenants(example);
      for (const payload of [bare, ...mutated(bare)]) {
        if (refusal(type, payload) !== undefined) continue;
        taken.set(type, (taken.get(type) ?? 0) + 1);
        const event = { eventId: RUN, runId: RUN, sequence: 0, timestamp: 0, schemaVersion: 3, engineVersion: 1 };
        for (const major of [1, 2] as const) {
          const { body } = renderDelivery(run, { ...event, type, payload }, major);
          const problems = problemsOf[major](JSON.parse(new TextDecoder().decode(body)));
          expect([type, payload, problems]).toEqual([type, payload, []]);
        }
      }
    }
    // Every type is seen with its example and with other payloads that are taken.
    for (const [type, count] of taken) expect([type, count > 1]).toEqual([type, true]);
  });

  test.each([5, null, {}, '', 'x'.repeat(513)])('a causation id of %j is refused', (causationId) => {
    const event = { type: 'acme.x', payload: {}, causationId: Object(causationId) === causationId ? {} : causationId };
    expect(() => judged(event as NewEvent)).toThrow('acme.x: causationId must be text of 1 to 512 characters.');
    expect(judged({ type: 'acme.x', payload: {}, causationId: 'dlv_1' })).toMatchObject({ causationId: 'dlv_1' });
  });

  test('a payload that is no JSON is refused, and one that is JSON is copied', () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const payload of [{ a: 1n }, cycle, () => 1, Symbol('x')])
      expect(() => judged({ type: 'acme.x', payload: payload as Json })).toThrow(
        /^acme\.x: payload is (?:no JSON|missing)/,
      );
    const payload = { a: [1] };
    const copied = judged({ type: 'acme.x', payload }).payload;
    expect(copied).toEqual(payload);
    expect(copied).not.toBe(payload);
  });

  test('a member that JSON would change or leave out is judged as JSON', () => {
    expect(refusal('node.completed', { nodeId: 'n', durationMs: undefined })).toBe(undefined);
    expect(refusal('node.completed', { nodeId: undefined })).toBe('node.completed: payload.nodeId is missing.');
    const date = Object(new Date(0));
    expect(refusal('agent.decided', date)).toBe('agent.decided: payload must be an object.');
    expect(refusal('log.appended', { level: 'info', message: 'm', fields: date })).toContain(
      'fields must be an object',
    );
  });

  test('the compiler knows the payloads', () => {
    const append = <const T extends readonly string[]>(
      ..._events: { readonly [I in keyof T]: import('../../src/ports/engine.ts').EngineEvent<T[I]> }
    ): number => _events.length;
    const dynamic: NewEvent = { type: 'node.completed', payload: 'judged at run time' };
    const known = append(
      { type: 'node.completed', payload: { nodeId: 'n', outputs: {}, 'x-acme': 1 } },
      { type: 'agent.toolCalled', payload: { any: 1 } },
      { type: 'acme.order-shipped', payload: { any: 1 } },
      dynamic,
    );
    const refused = [
      // @ts-expect-error a missing member
      append({ type: 'node.completed', payload: {} }),
      // @ts-expect-error a value of another type
      append({ type: 'log.appended', payload: { level: 'loud', message: 'm' } }),
      // @ts-expect-error a member that the type does not have
      append({ type: 'node.completed', payload: { nodeId: 'n', foreign: 1 } }),
      // @ts-expect-error a misspelt type
      append({ type: 'node.complete', payload: { nodeId: 'n' } }),
      // @ts-expect-error a type that only the kit records
      append({ type: 'run.completed', payload: { outputs: {} } }),
    ];
    expect([known, refused.length]).toEqual([4, 5]);
  });
});

/** An example of major 2 as an engine appends it: without the tenants of its ids. */
function withoutTenants(example: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(example).replaceAll('"acme/', '"'));
}

const VALUES: readonly Json[] = [
  ...[null, true, 0, 1, -1, 0.5, 1e21, '', 'a', 'a/b', 'a b', RUN, '\u0000', '\ud800', 'x'.repeat(600)],
  ...[[], ['a'], [1], {}, { a: 1 }, { code: 'c', message: 'm' }, '2026-09-21T08:30:00Z', '2026-09-21'],
];

/** Payloads that differ from a valid one in one place: a member replaced, left out, or added. */
function mutated(payload: JsonObject): readonly JsonObject[] {
  const members = Object.keys(payload);
  const replaced = members.flatMap((name) => VALUES.map((value) => ({ ...payload, [name]: value })));
  const inside = Object.entries(payload).flatMap(([name, value]) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? mutated(value as JsonObject).map((inner) => ({ ...payload, [name]: inner }))
      : [],
  );
  const added = ['foreign', 'x-acme', 'svc-a', 'vendor.b', 'nodeId', 'runId', 'reason', 'attempt', '__proto__'];
  return [
    ...replaced,
    ...inside,
    ...members.map((name) => without(payload, name)),
    ...added.flatMap((name) => VALUES.map((value) => JSON.parse(JSON.stringify({ ...payload, [name]: value })))),
  ];
}
