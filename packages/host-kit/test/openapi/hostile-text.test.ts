import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '@svc/host-kit';
import { a2aMount } from '@svc/host-kit/mounts/a2a';
import { mcpMount } from '@svc/host-kit/mounts/mcp';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { postgresStore } from '@svc/host-kit/stores/postgres';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DESCRIPTIONS, hostOfEverything, WIDE_KEY } from './host-of-everything.ts';

const postgres = await startPostgres();
const folder = mkdtempSync(join(tmpdir(), 'svc-hostile-text-'));
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

const STORES: readonly [string, () => Store | Promise<Store>][] = [
  ['in memory', () => memoryStore()],
  ['on SQLite', () => sqliteStore(join(folder, 'host.db'))],
  ['on PostgreSQL', () => postgresStore({ url: postgres.url, connections: 4 })],
];

const NUL = 'a\0b';
const UNKNOWN = 'whk_01k0p3v5tq9d8m2x4c6b8n0r1s';

/** Texts as a caller writes them into a path or a query, of kinds that a parser, a store or a clock may stumble over. */
const HOSTILE: Readonly<Record<string, string>> = {
  'U+0000': '%00',
  'U+0000 in a text': 'a%00b',
  'a byte order mark': '%EF%BB%BFx',
  'a lone percent sign': '%',
  'a percent sign before other characters': '%zz',
  'half a character': '%C3',
  'a lone surrogate': '%ED%A0%80',
  '10 000 characters': 'x'.repeat(10_000),
  'a time without an offset': '2026-01-31T12:00',
  'a cursor of another list': cursorOf(UNKNOWN, 'dead', 0, 'dlv_01k0p3v5tq9d8m2x4c6b8n0r1s'),
};

function cursorOf(...parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Cursors of a form that lists of this host accept, for a record whose id has U+0000. */
function forgedCursors({ webhookId, triggerId }: Readonly<Record<string, string>>): readonly string[] {
  return [
    cursorOf('acme', 'live', 'run_\0'),
    cursorOf(webhookId ?? '', 0, 'dlv_\0'),
    cursorOf(webhookId ?? '', 'dead', 0, 'dlv_\0'),
    cursorOf(webhookId ?? '', 'ended', 0, 'dlv_\0'),
    cursorOf(triggerId ?? '', 'dlv_\0'),
    cursorOf('api-key', 'key_\0'),
  ];
}

/** A JSON Schema, as far as the descriptions of this host use it. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Parameter {
  readonly in?: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Operation {
  readonly method: string;
  readonly template: string;
  readonly query: readonly Parameter[];
  /** The names of the parameters of its path. */
  readonly path: readonly string[];
  readonly body: { readonly schema: Schema; readonly example?: unknown } | undefined;
  readonly credential: string;
  readonly resolve: (schema: Schema) => Schema;
}

interface Described {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, NonNullable<Operation['body']>>> };
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Parts of a request. `query` replaces the parameter `of`. */
interface Given {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly of?: string;
  readonly body?: unknown;
}

/** The parameter of a query. */
function asked(name: string, text: string): Given {
  return { query: `${name}=${text}`, of: name };
}

/** A host of every operation with a record of each kind, so that a wrong parameter is not refused for the others' sake. */
async function openWorld(store: Store) {
  const agent = { name: 'a', description: 'An agent.', version: '1.0.0', skills: [] };
  const { host, call } = await hostOfEverything(store, [a2aMount({ agent }), mcpMount()]);
  await host.start();
  async function made(path: string, body: object) {
    const answer = await call('POST', path, body, WIDE_KEY);
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.body.message}`);
    return answer.body;
  }
  const mount = '/host/example';
  const tenantId = 'acme-prod';
  const { runId } = await made('/v1/runs', { workflowId: 'publish', tenantId });
  const { token } = await vi.waitFor(() => made(`${mount}/interrupts/${runId}/gate/tokens`, {}), 60_000);
  const events = ['run.completed'];
  const { webhookId } = await made('/v1/webhooks', { url: 'https://hooks.example.org/svc', events, tenantId });
  const { jobId } = await made(`${mount}/webhooks/${webhookId}/replay`, { since: '2026-01-31T12:00:00Z' });
  const mapping = { workflowId: 'publish', inputs: { order: { pointer: '/body' } } };
  const webhook = { preset: 'standard-webhooks' };
  const trigger = await made('/v1/trigger-subscriptions', { source: 'webhook', tenantId, mapping, webhook });
  const triggerId = trigger.subscription.subscriptionId;
  const { session, code } = await made(`${mount}/portal-sessions`, { actions: ['view', 'edit', 'rotate', 'redrive'] });
  const portal = await made(`${mount}/portal/exchange`, { code });
  const records: Readonly<Record<string, string>> = {
    ...{ runId, token, webhookId, jobId, triggerId, id: triggerId, sessionId: session.sessionId },
    ...{ nodeId: 'gate', workflowId: 'publish', type: 'run.completed', name: 'openai', path: 'a.md', tenantId },
  };

  const operations: Operation[] = [];
  for (const document of DESCRIPTIONS) {
    const description: Description = (await call('GET', document)).body;
    const credential = document.includes('/portal/') ? portal.token : WIDE_KEY;
    operations.push(...operationsOf(description, credential));
  }

  /** Calls an operation with its required parameters and its example of a body, but for those that are given. */
  async function send(operation: Operation, given: Given) {
    const { method, template, credential } = operation;
    const body = 'body' in given ? given.body : (operation.body?.example ?? (operation.body && {}));
    const values: Readonly<Record<string, string>> = { ...records, ...given.path };
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'x');
    const required = operation.query.filter((parameter) => parameter.required === true && parameter.name !== given.of);
    const parts = required.map(({ name }) => `${name}=${records[name] ?? '1'}`);
    const query = [...(given.query === undefined ? [] : [given.query]), ...parts].join('&');
    const request = new Request(`https://svc.example.com${path}?${query}`, {
      method,
      headers: {
        authorization: `Bearer ${credential}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(!path.startsWith('/v1/') && { 'svc-version': '2' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const response = await host.fetch(request, { address: '192.0.2.7' });
    const { status, headers } = response;
    if (headers.get('content-type')?.startsWith('text/event-stream') !== true)
      return { status, text: await response.text() };
    await response.body?.cancel();
    return { status, text: 'a stream' };
  }

  return { host, call, records, operations, send };
}

function operationsOf({ paths, components }: Description, credential: string): Operation[] {
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : resolve(components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody }]) => ({
      ...{ method: method.toUpperCase(), template, credential, resolve },
      query: parameters.filter((parameter) => parameter.in === 'query'),
      path: Array.from(template.matchAll(/\{(\w+)\}/g), ([, name = '']) => name),
      body: requestBody?.content['application/json'],
    })),
  );
}

/** Puts U+0000 into each text of a body, and into the names of its free members, also of members that an example lacks. */
function* withNul(
  schema: Schema,
  example: unknown,
  resolve: Operation['resolve'],
  levels = 5,
): Generator<readonly [member: string, body: unknown]> {
  const { type, properties = {}, additionalProperties, items, anyOf = [], oneOf = [] } = resolve(schema);
  if (levels === 0) return;
  for (const branch of [...anyOf, ...oneOf]) yield* withNul(branch, example, resolve, levels - 1);
  if (type === 'string') yield ['', NUL];
  if (type === 'array' && items !== undefined) {
    for (const [member, body] of withNul(items, undefined, resolve, levels - 1)) yield [`[]${member}`, [body]];
  }
  if (type !== 'object') return;
  const known = typeof example === 'object' ? example : {};
  if (additionalProperties !== false) yield ['.*', { ...known, [NUL]: NUL }];
  for (const [name, inner] of Object.entries(properties)) {
    const value: unknown = Object.entries(known ?? {}).find(([own]) => own === name)?.[1];
    for (const [member, body] of withNul(inner, value, resolve, levels - 1)) {
      yield [`.${name}${member}`, { ...known, [name]: body }];
    }
  }
}

describe.each(STORES)('a host %s', (_name, open) => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  beforeAll(async () => {
    world = await openWorld(await open());
  });
  afterAll(() => world.host.stop());

  test('fails at no text in a path or a query', async () => {
    const { operations, records, send } = world;
    const failures: string[] = [];
    let judged = 0;
    for (const operation of operations) {
      const judge = async (where: string, what: string, given: Given) => {
        const { status, text } = await send(operation, given);
        judged += 1;
        if (status >= 500) failures.push(`${operation.method} ${operation.template}, ${what} in ${where}: ${text}`);
      };
      for (const [what, text] of Object.entries(HOSTILE)) {
        for (const name of operation.path) await judge(`{${name}}`, what, { path: { [name]: text } });
        for (const { name } of operation.query) await judge(name, what, asked(name, text));
      }
      for (const { name } of operation.query.filter(isCursor)) {
        for (const cursor of forgedCursors(records)) await judge(name, cursor, asked(name, cursor));
      }
    }
    expect(failures).toEqual([]);
    expect(judged).toBeGreaterThan(2000);
  });

  test('fails at no U+0000 in a body', async () => {
    const failures: string[] = [];
    let judged = 0;
    for (const operation of world.operations) {
      const { body, resolve, method, template } = operation;
      for (const [member, hostile] of body === undefined ? [] : withNul(body.schema, body.example, resolve)) {
        const { status, text } = await world.send(operation, { body: hostile });
        judged += 1;
        if (status >= 500) failures.push(`${method} ${template}, body${member}: ${text}`);
      }
    }
    expect(failures).toEqual([]);
    expect(judged).toBeGreaterThan(200);
  });

  test('refuses U+0000 by the name of its parameter, also of one that it does not know', async () => {
    const { operations, send } = world;
    const reading = operations.filter(({ method, credential }) => method === 'GET' && credential === WIDE_KEY);
    for (const operation of reading) {
      const { path, query } = operation;
      // A token is a credential, and is judged before everything else.
      const given = [
        ...path
          .filter((name) => name !== 'token')
          .map((name) => ({ path: { [name]: 'a%00b' }, field: `path.${name}` })),
        ...[...query, { name: 'q' }].map(({ name }) => ({ ...asked(name, 'a%00b'), field: `query.${name}` })),
        { query: 'q%00=1', field: 'query.q' },
      ];
      for (const { field, ...part } of given) {
        const { status, text } = await send(operation, part);
        expect([status, text], operation.template).toEqual([
          400,
          expect.stringContaining(`${field}: must not contain U+0000.`),
        ]);
      }
    }
  });

  test.each([
    ['/v1/runs', { workflowId: 'publish', tenantId: NUL }, 'tenantId'],
    ['/v1/runs', { workflowId: 'publish', tenantId: 'acme-prod', scopeId: NUL }, 'scopeId'],
    ['/runs', { workflowId: 'publish', scopeId: NUL }, 'scopeId'],
    ['/v1/webhooks', { url: 'https://hooks.example.org/svc', events: ['run.completed'], tenantId: NUL }, 'tenantId'],
    ['/host/example/byok/secrets/openai', { value: 'sk-of-the-tenant', workspace: NUL }, 'workspace'],
  ])('refuses U+0000 in a name that a record is found by: %s %j', async (path, body, field) => {
    const { status, body: refusal } = await world.call(path.includes('byok') ? 'PUT' : 'POST', path, body, WIDE_KEY);
    expect([status, refusal.error, refusal.message]).toEqual([
      400,
      'validation_error',
      `${field}: must not contain U+0000.`,
    ]);
  });

  test('takes U+0000 where a text is content', async () => {
    const { call, records } = world;
    const inputs = { [NUL]: NUL };
    const run = { workflowId: 'publish', tenantId: 'acme-prod', inputs, metadata: inputs, tags: [NUL] };
    expect((await call('POST', '/v1/runs', run)).status).toBe(201);
    const note = { signal: { kind: 'rating', rating: 5 }, note: NUL };
    expect((await call('POST', `/v1/runs/${records.runId}/annotations`, note)).status).toBe(201);
    const file = await call('PUT', '/v1/host/workspace/files/nul.txt', { content: NUL });
    expect([file.status, file.body.content]).toEqual([200, NUL]);
  });

  test('refuses what is no cursor, and takes the id that ended a page', async () => {
    const { operations, records, send, call } = world;
    const refused = operations.flatMap((operation) =>
      operation.query.filter(isCursor).map(async ({ name }) => {
        const { status, text } = await send(operation, asked(name, 'no%20cursor'));
        return [operation.template, name, status, text.includes(`query.${name}`)];
      }),
    );
    const found = await Promise.all(refused);
    expect(found.filter(([, , status, isNamed]) => status !== 400 || isNamed !== true)).toEqual([]);
    expect(found.length).toBeGreaterThan(15);
    const { webhookId, jobId, triggerId } = records;
    for (const after of [jobId, `acme/${jobId}`, '']) {
      const jobs = await call('GET', `/host/example/webhooks/${webhookId}/jobs?after=${after}`);
      expect(jobs.status).toBe(200);
    }
    for (const path of [
      `/webhooks/${webhookId}/jobs?after=x`,
      '/triggers?after=x',
      `/triggers/${triggerId}/messages?before=x`,
    ]) {
      const { status, body } = await call('GET', `/host/example${path}`);
      expect([status, body.error]).toEqual([400, 'validation_error']);
    }
  });

  test('refuses a time without an offset, whose moment would depend on the zone of the host', async () => {
    const { operations, send } = world;
    const timed = operations.flatMap((operation) =>
      operation.query.filter(({ schema }) => schema.format === 'date-time').map(({ name }) => ({ operation, name })),
    );
    for (const { operation, name } of timed) {
      const ask = (time: string) => send(operation, asked(name, `${encodeURIComponent(time)}&state=dead-lettered`));
      const told = `${operation.template} ${name}`;
      for (const time of ['2026-01-31T12:00', '2026-01-31T12:00:00', '2026-01-31T12:00:00.000', '2026-01-31']) {
        const { status, text } = await ask(time);
        expect([status, text], told).toEqual([
          400,
          expect.stringContaining(`query.${name}: must be a time with its offset`),
        ]);
      }
      for (const time of ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z', '2026-01-31T14:00:00+02:00'])
        expect((await ask(time)).text, told).not.toContain('must be a time');
    }
    expect(timed.length).toBeGreaterThan(10);
  });
});

const isCursor = ({ name }: Parameter) => /^(?:cursor|after|before)$/.test(name);
