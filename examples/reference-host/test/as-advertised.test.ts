import { covers } from '@svc/tools/covers';
import { MANIFEST } from '@svc/versioning';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningHost, scratch } from './booted-host.ts';
import { bearer, sender } from './callers.ts';
import { bootInProcess } from './host-in-process.ts';

const KEY = 'operator_brought_key_of_enough_characters';
const MAJORS = ['1', '2'] as const;
type Major = (typeof MAJORS)[number];

const folder = scratch();
const HOSTS: Readonly<Record<string, object>> = {
  everything: {
    mounts: { mcp: true, publicChat: { tenant: 'acme', workspace: 'acme-prod' } },
    triggers: {},
    workspaceDiscovery: [{ tenant: 'acme', workspace: 'acme-prod', families: ['webhooks'] }],
  },
  little: {
    mounts: { a2a: false, chat: false },
    workspaceFiles: { enabled: false },
    webhooks: { signatureAlgorithms: ['v1'] },
  },
  'major 1': { protocol: { versions: ['1.1'] } },
  'major 2': { protocol: { versions: ['2.0'] } },
};
const booted = new Map<string, RunningHost>();

beforeAll(async () => {
  for (const [name, changes] of Object.entries(HOSTS)) {
    const host = await bootInProcess(folder.path(`${name}.json`), {
      listen: { port: 0 },
      store: `sqlite:${folder.path(`${name}.db`)}`,
      tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
      apiKeys: [{ id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['*'], principal: 'p_1', scopes: ['*:*'] }],
      ...changes,
    });
    booted.set(name, host);
  }
});
afterAll(async () => {
  await Promise.all([...booted.values()].map((each) => each.end()));
  folder.remove();
});

const clients = new Map(Object.keys(HOSTS).map((name) => [name, sender(() => booted.get(name)?.url ?? '')] as const));
function ask(name: string, ...asked: Parameters<ReturnType<typeof sender>>) {
  const client = clients.get(name);
  if (client === undefined) throw new Error(`no host: ${name}`);
  return client(...asked);
}

const headersOf = (major: Major) => ({ ...bearer(KEY), 'svc-version': major });
/** The hosts with the majors that they serve. */
const SERVED = Object.keys(HOSTS).flatMap((name) =>
  MAJORS.filter((major) => !name.startsWith('major') || name.endsWith(major)).map((major) => [name, major] as const),
);

interface Described {
  readonly operationId: string;
  readonly security: readonly object[];
}

/** Reads the operations of an API description, by `<METHOD> <path>`. */
async function described(name: string, path: string, major?: Major): Promise<ReadonlyMap<string, Described>> {
  const { status, body } = await ask(name, path, major === undefined ? {} : { headers: { 'svc-version': major } });
  expect(status).toBe(200);
  const paths: Record<string, Record<string, Described>> = body.paths;
  return new Map(
    Object.entries(paths).flatMap(([template, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${template}`, operation] as const),
    ),
  );
}

const describedIn = (name: string, major: Major) =>
  described(name, major === '1' ? '/v1/openapi.json' : '/openapi.json', major);

const OFF = [404, 405, 501];

/**
 * Returns the methods that a path serves: those that it names to a request of a method that no operation has, without
 * those that it refuses although it knows them.
 */
async function methodsAt(
  name: string,
  template: string,
  headers: Record<string, string>,
  expected: readonly string[],
): Promise<readonly string[]> {
  const path = template.replaceAll(/\{\w+\}/g, 'x_1');
  const { status, headers: answered } = await ask(name, path, { method: 'PROPFIND', headers });
  expect([template, OFF.includes(status)]).toEqual([template, true]);
  const served: string[] = [];
  for (const method of (answered.get('allow') ?? '').split(', ')) {
    if (method === '' || method === 'HEAD') continue;
    if (expected.includes(method)) served.push(method);
    // It is not described, so that its answer cannot be held to a description.
    else if (!OFF.includes((await fetch(`${booted.get(name)?.url}${path}`, { method, headers })).status))
      served.push(method);
  }
  return served.sort();
}

/** Returns the methods of the operations whose template matches a path, or the path of another template. */
function methodsOf(operations: Iterable<string>, template: string): readonly string[] {
  const path = template.replaceAll(/\{\w+\}/g, 'x_1');
  return [...operations].flatMap((operation) => {
    const [method = '', other = ''] = operation.split(' ');
    const pattern = other.replaceAll(/\{path\}/g, '.+').replaceAll(/\{\w+\}/g, '[^/:]+');
    return new RegExp(`^${pattern}$`).test(path) ? [method] : [];
  });
}

const prefixed = (major: Major, path: string) => (major === '1' && path !== '/.well-known/svc' ? `/v1${path}` : path);

describe.each(SERVED)('the host "%s" in major %s', (name, major) => {
  test(`${covers('operations.openapi.describes-what-is-served')} Every served operation is described, and no other`, async () => {
    const isDescribed = [...(await describedIn(name, major)).keys()];
    const isServed: string[] = [];
    for (const path of new Set(MANIFEST.map((operation) => prefixed(major, operation.path)))) {
      const methods = await methodsAt(name, path, headersOf(major), methodsOf(isDescribed, path));
      isServed.push(...methods.map((method) => `${method} ${path}`));
    }
    expect(isServed.sort()).toEqual(isDescribed.sort());
  });

  test(`${covers('operations.openapi.describes-every-answer')} Every operation answers, as it is described`, async () => {
    for (const [operation, { operationId, security }] of await describedIn(name, major)) {
      const [method = '', template = ''] = operation.split(' ');
      const path = template.replaceAll(/\{\w+\}/g, 'x_1');
      // The sender holds each answer to the description of its operation.
      for (const headers of [{}, headersOf(major)]) {
        const withBody = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: {} } : {};
        const { status } = await ask(name, path, {
          method,
          headers: { 'svc-version': major, ...headers },
          ...withBody,
        });
        expect([operationId, status]).toEqual([operationId, expect.toSatisfy((code: number) => code < 500)]);
        if (security.length > 0 && !('authorization' in headers))
          expect([operationId, status]).toEqual([operationId, 401]);
      }
    }
  });

  test(`${covers('discovery.document.advertise-only-served')} A family is claimed exactly when its operations are served`, async () => {
    const { body: document } = await ask(name, '/.well-known/svc', { headers: { 'svc-version': major } });
    const served = new Set([...(await describedIn(name, major)).values()].map(({ operationId }) => operationId));
    for (const { claim, operations } of FAMILIES) {
      const mine = operations.filter((id) => MANIFEST.some((each) => each.operationId === id && isOf(each, major)));
      if (mine.length === 0 || claim[major].length === 0) continue;
      const isClaimed = claim[major].some((path) => isSupported(memberAt(document, path)));
      expect([claim[major], mine.filter((id) => served.has(id))]).toEqual([claim[major], isClaimed ? mine : []]);
    }
  });

  test(`${covers('operations.openapi.mounts')} Every mount is described, served and found through discovery`, async () => {
    const routes = await described(name, '/host/example/openapi.json');
    const paths = [...new Set([...routes.keys()].map((route) => route.split(' ')[1] ?? ''))];
    for (const path of paths) {
      const methods = methodsOf(routes.keys(), path);
      expect([path, await methodsAt(name, path, bearer(KEY), methods)]).toEqual([path, [...methods].sort()]);
    }
    const { body: document } = await ask(name, '/.well-known/svc', { headers: { 'svc-version': major } });
    const extensions = Object.values<{ path?: string }>(document.extensions).flatMap(({ path }) => path ?? []);
    expect(extensions.length).toBeGreaterThan(0);
    // The schemas are public documents, and no routes.
    for (const extension of extensions.filter((path) => path !== '/host/example/schemas'))
      expect([extension, paths.some((path) => path.startsWith(extension))]).toEqual([extension, true]);
    for (const [path, family] of MOUNTS) {
      const isServed = paths.some((each) => each.startsWith(`/host/example/${path}`));
      const probe = `/host/example/${path}`;
      const methods = await methodsAt(name, probe, bearer(KEY), methodsOf(routes.keys(), probe));
      expect([path, methods.length > 0]).toEqual([path, isServed]);
      expect([family, isSupported(memberAt(document, family))]).toEqual([family, isServed]);
    }
  });
});

/** Mounts with the families that claim them. */
const MOUNTS = [
  ['a2a', 'a2a'],
  ['mcp', 'mcp'],
  ['public-chat', 'anonymousActor'],
] as const;

/** Families with their operations. A family without an operation of its own is not here. */
const FAMILIES: readonly {
  readonly claim: Readonly<Record<Major, readonly string[]>>;
  readonly operations: readonly string[];
}[] = [
  { claim: both('eventLog'), operations: ['streamEvents', 'pollEvents'] },
  { claim: both('replay'), operations: ['forkRun'] },
  { claim: { 1: ['interrupts'], 2: ['interrupt'] }, operations: ['resolveInterrupt'] },
  { claim: { 1: [], 2: ['runList'] }, operations: ['listRuns'] },
  { claim: { 1: ['auth.auditLogIntegrity'], 2: ['auditLogIntegrity'] }, operations: ['verifyAudit'] },
  { claim: both('webhooks'), operations: ['registerWebhook', 'unregisterWebhook', 'listDeadLetters'] },
  // The record of major 1 has no member for it.
  { claim: { 1: [], 2: ['webhooks.secretRotation'] }, operations: ['rotateWebhookSecret'] },
  { claim: both('feedback'), operations: ['createAnnotation', 'listAnnotations'] },
  { claim: both('compensation'), operations: ['readCompensation'] },
  { claim: both('triggerBridge'), operations: ['createTriggerSubscription', 'listTriggerDeadLetters'] },
  {
    claim: { 1: ['workspace'], 2: [] },
    operations: ['listWorkspaceFiles', 'readWorkspaceFile', 'writeWorkspaceFile', 'deleteWorkspaceFile'],
  },
];

function both(name: string) {
  return { 1: [name], 2: [name] };
}

function isOf(operation: (typeof MANIFEST)[number], major: Major): boolean {
  return operation.majors.includes(major === '1' ? 1 : 2);
}

function memberAt(document: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => Object(value)[name], document);
}

/** Returns whether a record claims its family. In major 1 a record may say that the family is not supported. */
function isSupported(record: unknown): boolean {
  return record !== undefined && Object(record).supported !== false;
}
