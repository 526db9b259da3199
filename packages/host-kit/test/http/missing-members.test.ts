import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hostOfEverything } from '../openapi/host-of-everything.ts';

const { host, call } = await hostOfEverything();

/** A JSON Schema, as far as the bodies of this host use it. */
interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly const?: string;
}

type Example = Readonly<Record<string, unknown>>;

/** A body, and the members that it lacks. */
interface Lacking {
  readonly body: Example;
  readonly missing: readonly string[];
}

/** Leaves each required member of an example out, at every depth, and all of each branch of a union but its name. */
function* lacking(schema: Schema, example: Example, resolve: (schema: Schema) => Schema): Generator<Lacking> {
  const { required = [], properties = {}, oneOf, anyOf } = resolve(schema);
  for (const branch of (oneOf ?? anyOf ?? []).map(resolve)) {
    const names = Object.entries(branch.properties ?? {}).filter(([, { const: name }]) => name !== undefined);
    const body = Object.fromEntries(names.map(([property, { const: name }]) => [property, name]));
    const missing = (branch.required ?? []).filter((name) => !Object.hasOwn(body, name));
    // A branch without a name is no branch of a discriminated union: any of its members may be another's.
    if (names.length > 0 && missing.length > 0) yield { body, missing };
    if (names.every(([property, { const: name }]) => example[property] === name))
      yield* lacking(branch, example, resolve);
  }
  for (const name of required) {
    expect(example, 'the example has every required member').toHaveProperty(name);
    const { [name]: _, ...body } = example;
    yield { body, missing: [name] };
  }
  for (const [name, inner] of Object.entries(properties)) {
    const value = example[name];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    for (const { body, missing } of lacking(inner, { ...value }, resolve)) {
      yield { body: { ...example, [name]: body }, missing: missing.map((path) => `${name}.${path}`) };
    }
  }
}

/** The host looks a thing up before it judges the body. */
let credentials: Readonly<Record<string, string>>;
let token: string;

beforeAll(async () => {
  await host.start();
  const { runId } = (await call('POST', '/v1/runs', { workflowId: 'publish' })).body;
  token = await vi.waitFor(async () => {
    const issued = await call('POST', `/host/example/interrupts/${runId}/gate/tokens`, {});
    if (issued.status !== 201) throw new Error('The run does not ask yet.');
    return issued.body.token;
  }, 60_000);
  const session = await call('POST', '/host/example/portal-sessions', {
    actions: ['view', 'edit', 'rotate', 'redrive'],
  });
  const { code } = session.body;
  const { body } = await call('POST', '/host/example/portal/exchange', { code });
  credentials = { '/host/example/portal/openapi.json': body.token };
});
afterAll(() => host.stop());

describe('a request body without a required member says that the member is required', () => {
  test.each([
    ['/v1/openapi.json', 20],
    ['/openapi.json', 20],
    ['/host/example/openapi.json', 20],
    ['/host/example/portal/openapi.json', 2],
  ])('%s', async (document, atLeast) => {
    const { body: described } = await call('GET', document);
    const resolve = (schema: Schema): Schema =>
      schema.$ref === undefined ? schema : resolve(described.components.schemas[schema.$ref.split('/').at(-1) ?? '']);
    let judged = 0;
    for (const { method, template, content } of operationsOf(described)) {
      const path = template.replace('{token}', token).replace(/\{\w+\}/g, 'x');
      for (const { body, missing } of lacking(content.schema, content.example, resolve)) {
        const answer = await call(method, path, body, credentials[document]);
        const told = `${method} ${template} ${JSON.stringify(body)} ${answer.body.message}`;
        expect(answer.status, told).toBe(400);
        for (const field of missing) expect(` ${answer.body.message}`, told).toContain(` ${field}: is required.`);
        expect(answer.body.message, told).not.toMatch(/Invalid (?:input|option)|received|expected/);
        judged += 1;
      }
    }
    expect(judged).toBeGreaterThanOrEqual(atLeast);
  });

  test('and names the workspaces of the credential, for the workspace', async () => {
    const remedy = 'It names a workspace of your credential: acme-prod.';
    const url = 'https://hooks.example.org/svc';
    const { body } = await call('POST', '/v1/webhooks', { url, events: ['run.completed'] });
    expect(body.message).toBe(`tenantId: is required. ${remedy}`);
    const read = await call('GET', '/v1/webhooks/whk_1/dead-letters');
    expect(read.body.message).toBe(`query.tenantId: is required. ${remedy}`);
  });

  test('and a member that is misspelt is told with the member that was meant', async () => {
    const { body } = await call('POST', '/v1/runs', { workflowId: 'publish', input: {} });
    expect(body.message).toBe('body: has no field "input". Did you mean inputs?');
  });
});

function operationsOf({ paths }: { readonly paths: Readonly<Record<string, object>> }) {
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) => {
      const content = requestBody?.content['application/json'];
      return content === undefined ? [] : [{ method: method.toUpperCase(), template, content }];
    }),
  );
}
