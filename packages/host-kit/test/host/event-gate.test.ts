import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, NewEvent, Store, WorkflowEngine } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { postgresStore } from '@svc/host-kit/stores/postgres';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { covers } from '@svc/tools/covers';
import { strictValidator } from '@svc/tools/json-schema';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EVENT_TYPES } from '../../src/events/event-types.ts';
import { isReserved } from '../../src/execution/engine-events.ts';
import { type RecordedHost, recordedHost } from './recorded-host.ts';

/** The types that engines append. */
const OPEN_TYPES = [...EVENT_TYPES.values()].filter(({ type }) => !isReserved(type));
/** Types that no feature of the kit records, and no engine may append. */
const NEVER = ['run.resume-started', 'run.restored-from-snapshot', 'run.dead-lettered'];

/** Appends every type in the spelling that the input names, or the events of the input. */
const engine: WorkflowEngine = {
  interrupts: ['approval', 'clarification'],
  async execute({ workflowId, inputs }, { append, interrupt }) {
    if (workflowId === 'every-type') {
      const isMajor1 = inputs.spelling === 1;
      for (const { type, typeInMajor1, example } of OPEN_TYPES) {
        // An engine names a run by its id alone.
        const payload: JsonObject = JSON.parse(JSON.stringify(example).replaceAll('"acme/', '"'));
        await append({ type: isMajor1 ? typeInMajor1 : type, payload });
      }
    }
    if (workflowId === 'ask') {
      const data = { questions: [{ id: 'colour', question: 'Which colour?' }] };
      await interrupt({ nodeId: 'n', key: 'k', kind: 'clarification', data });
    }
    if (workflowId === 'refused') {
      const events = inputs.events as { readonly type: string; readonly payload: JsonObject }[];
      const refusals: string[] = [];
      for (const event of events) {
        await append({ type: 'acme.before', payload: {} }, event).catch((error: unknown) => {
          refusals.push(error instanceof TypeError ? error.message : `not a TypeError: ${String(error)}`);
        });
      }
      return { status: 'completed', outputs: { refusals } };
    }
    return workflowId === 'bad-outcome'
      ? { status: 'completed', outputs: Object(['a list']) }
      : { status: 'completed', outputs: {} };
  },
};

const folder = mkdtempSync(join(tmpdir(), 'event-gate-'));
const postgres = await startPostgres();
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await postgres.stop();
});

const STORES: readonly (readonly [string, () => Promise<Store>])[] = [
  ['SQLite', async () => sqliteStore(join(folder, 'host.db'))],
  ['PostgreSQL', () => postgresStore({ url: postgres.url })],
];

describe.each(STORES)('a host on %s', (_name, openStore) => {
  let serving: RecordedHost;
  beforeAll(async () => {
    serving = await recordedHost({ store: await openStore(), engine });
    for (const major of [1, 2] as const) {
      const events = [...EVENT_TYPES.values()].filter(({ type }) => !NEVER.includes(type));
      const names = events.map(({ type, typeInMajor1 }) => (major === 1 ? typeInMajor1 : type));
      const { status, body } = await serving.subscribe(major, names);
      expect([status, body]).toEqual([201, expect.anything()]);
    }
  });
  afterAll(() => serving.stop());

  const schemaOf = async (major: 1 | 2) => {
    const { body } = await serving.call(`/host/example/schemas/v${major}/webhook-delivery.schema.json`);
    return strictValidator(body);
  };

  test.each([1, 2] as const)(
    `${covers('events.gate.vocabulary', 'webhooks.body.v2-schema-valid', 'webhooks.body.vocabulary-of-registration')} delivers every type in both majors when an engine names it as major %i does`,
    async (spelling) => {
      const runId = await serving.start('every-type', { spelling });
      await serving.comesTo(runId, 'completed', 'failed');
      // The run also starts and ends.
      const all = await serving.deliveriesOf(runId, 2 * (OPEN_TYPES.length + 2));
      for (const major of [1, 2] as const) {
        const problemsOf = await schemaOf(major);
        const bodies = all.filter(({ webhookId }) => webhookId.includes('/') === (major === 2));
        const expected = OPEN_TYPES.map(({ type, typeInMajor1 }) => (major === 1 ? typeInMajor1 : type));
        const named = ['run.started', ...expected, 'run.completed'].sort();
        expect(bodies.map(({ body }) => body.event.type).sort()).toEqual(named);
        expect(bodies.map(({ eventType }) => eventType).sort()).toEqual(named);
        expect(bodies.flatMap(({ body }) => problemsOf(body))).toEqual([]);
        expect((await serving.log(major, runId)).map(({ type }: { type: string }) => type).sort()).toEqual(named);
      }
    },
  );

  test(`${covers('events.gate.payloads')} stores nothing of an append with an event that is refused`, async () => {
    const events = [
      { type: 'nonsense', payload: {} },
      { type: 'agent.toolCaled', payload: {} },
      { type: 'node.completed', payload: 'bad' },
      { type: 'log.appended', payload: {} },
      { type: 'run.completed', payload: { outputs: {} } },
      { type: 'run.resuming', payload: {} },
      { type: 'clarification.requested', payload: {} },
    ];
    const runId = await serving.start('refused', { events });
    await serving.comesTo(runId, 'completed');
    const [started, completed, ...others] = await serving.log(2, runId);
    expect([started.type, completed.type, others]).toEqual(['run.started', 'run.completed', []]);
    expect(completed.payload.outputs.refusals).toEqual([
      expect.stringMatching(/^nonsense: is no event type\. The nearest is /),
      expect.stringMatching(/^agent\.toolCaled: is no event type\. The nearest is agent\.tool/),
      'node.completed: payload must be an object.',
      'log.appended: payload.level is missing.',
      expect.stringMatching(/^run\.completed: is recorded by the kit\./),
      expect.stringMatching(/^run\.resume-started: is recorded by the kit\./),
      expect.stringMatching(/^clarification\.requested: is recorded by the kit\./),
    ]);
  });

  test('fails a run whose engine returns an outcome that cannot be recorded', async () => {
    const runId = await serving.start('bad-outcome');
    expect(await serving.comesTo(runId, 'completed', 'failed')).toMatchObject({
      status: 'failed',
      error: { code: 'internal_error' },
    });
  });

  test('records and delivers a clarification and its answer in both majors', async () => {
    const runId = await serving.start('ask');
    await serving.comesTo(runId, 'waiting-input');
    await serving.call(`/v1/runs/${runId}/interrupts/n`, { resumeValue: { colour: 'green' } });
    await serving.comesTo(runId, 'completed');
    const types = [
      ...['run.started', 'node.suspended', 'interrupt.requested', 'clarification.requested'],
      ...['interrupt.resolved', 'clarification.resolved', 'node.resumed', 'run.completed'],
    ];
    const all = await serving.deliveriesOf(runId, 2 * types.length);
    for (const major of [1, 2] as const) {
      expect((await serving.log(major, runId)).map(({ type }: { type: string }) => type)).toEqual(types);
      const problemsOf = await schemaOf(major);
      const bodies = all.filter(({ webhookId }) => webhookId.includes('/') === (major === 2)).map(({ body }) => body);
      expect(bodies.map(({ event }) => event.type).sort()).toEqual([...types].sort());
      expect(
        bodies.map((body) => [body.event, problemsOf(body)]).filter(([, problems]) => problems.length > 0),
      ).toEqual([]);
      const asked = bodies.find(({ event }) => event.type === 'clarification.requested');
      expect(asked.event.payload).toMatchObject({ kind: 'clarification', key: 'k' });
      const resolved = bodies.find(({ event }) => event.type === 'clarification.resolved');
      expect(resolved.event.payload).toMatchObject({ nodeId: 'n', resumeValue: { colour: 'green' } });
    }
  });

  test.each([1, 2] as const)(
    `${covers('webhooks.registration.never-sent-400')} refuses a subscription to a type that it never sends in major %i, by name`,
    async (major) => {
      for (const type of NEVER) {
        const name = major === 1 ? (EVENT_TYPES.get(type)?.typeInMajor1 ?? '') : type;
        const { status, body } = await serving.subscribe(major, ['run.completed', name]);
        expect([status, body.error]).toEqual([400, 'validation_error']);
        expect(JSON.stringify(body.details)).toContain(`\\"${name}\\" is an event type that this host never sends`);
      }
    },
  );
});

describe('an engine that declares its events', () => {
  const declaring: WorkflowEngine = {
    ...engine,
    interrupts: ['approval'],
    events: ['log.appended', 'agent.toolCalled', 'acme.order-shipped'],
    async execute(_run, { append, interrupt }) {
      const refusals: string[] = [];
      const note = (error: unknown) => refusals.push(String(error));
      await append({ type: 'agent.tool-called', payload: {} });
      await append({ type: 'acme.order-shipped', payload: { order: 42 } });
      await append({ type: 'agent.decided', payload: {} }).catch(note);
      await append({ type: 'acme.other', payload: {} }).catch(note);
      const data = { questions: [{ id: 'q', question: 'Which?' }] };
      await interrupt({ nodeId: 'n', key: 'k', kind: 'clarification', data }).catch(note);
      return { status: 'completed', outputs: { refusals } };
    },
  };

  test('appends only these, and a subscription to others is refused', async () => {
    const serving = await recordedHost({ store: sqliteStore(join(folder, 'declared.db')), engine: declaring });
    const refused = [
      ...['agent.decided', 'lease.lost', 'acme.other', 'clarification.requested', 'clarification.resolved'],
    ];
    for (const name of refused) expect((await serving.subscribe(2, [name])).status).toBe(400);
    const taken = ['agent.tool-called', 'acme.order-shipped', 'log.appended', 'approval.requested', 'node.suspended'];
    expect((await serving.subscribe(2, [...taken, 'artifact.created', 'run.completed'])).status).toBe(201);
    expect((await serving.subscribe(1, ['agent.toolCalled', 'acme.order-shipped'])).status).toBe(201);

    const runId = await serving.start('any');
    await serving.comesTo(runId, 'completed');
    const all = await serving.deliveriesOf(runId, 5);
    expect(all.map(({ eventType }) => eventType).sort()).toEqual([
      ...['acme.order-shipped', 'acme.order-shipped', 'agent.tool-called', 'agent.toolCalled', 'run.completed'],
    ]);
    expect((await serving.log(2, runId)).at(-1).payload.outputs.refusals).toEqual([
      'TypeError: agent.decided: is not in events of the engine. Add it there.',
      'TypeError: acme.other: is not in events of the engine. Add it there.',
      'TypeError: interrupt: kind clarification is not in interrupts of the engine. Add it there.',
    ]);
    await serving.stop();
  });

  test('is refused at the assembly of the host when it names what is no event type', async () => {
    const broken = { ...declaring, events: ['agent.toolCaled'] };
    const store = sqliteStore(join(folder, 'broken.db'));
    await expect(recordedHost({ store, engine: broken })).rejects.toThrow(
      'engine.events: agent.toolCaled is no event type',
    );
    await store.close();
  });
});

describe('an event that the host appends itself', () => {
  test('is refused on every store when it is no JSON, or its envelope is malformed', async () => {
    for (const store of [memoryStore(), sqliteStore(join(folder, 'own.db'))]) {
      const { host, start, comesTo, log, stop } = await recordedHost({ store, engine });
      const runId = await start('ask');
      await comesTo(runId, 'waiting-input');
      const cycle: Record<string, unknown> = {};
      cycle.self = cycle;
      const append = (event: object) =>
        host.events.append(runId, { type: 'acme.x', payload: {}, ...event } as NewEvent);
      for (const broken of [
        { payload: { a: 1n } },
        { payload: cycle },
        { payload: undefined },
        { causationId: 5 },
        { nodeId: 'a b' },
        { type: 'nonsense' },
      ])
        await expect(append(broken)).rejects.toThrow(TypeError);
      await append({ payload: { a: 1 }, causationId: 'dlv_1' });
      expect((await log(2, runId)).at(-1)).toMatchObject({ type: 'acme.x', payload: { a: 1 }, causationId: 'dlv_1' });
      await stop();
    }
  });
});

describe('every type that only the kit records', () => {
  test('is sent for a feature of the kit, or refused by name', async () => {
    const reserved = [...EVENT_TYPES.keys()].filter(isReserved);
    const serving = await recordedHost({ store: sqliteStore(join(folder, 'reserved.db')), engine });
    const answers = await Promise.all(reserved.map((type) => serving.subscribe(2, [type])));
    const refused = reserved.filter((_, index) => answers[index]?.status !== 201);
    expect(refused.sort()).toEqual([...NEVER].sort());
    await serving.stop();
  });
});
