import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type MountRoute, publicMountRoute } from '@svc/host-kit';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { JSON_BODY, PAGE, type PublicHost, publicHost, type Sent, TEXT_BODY, TOO_LARGE } from './public-host.ts';

let world: PublicHost;
beforeAll(async () => {
  world = await publicHost();
});
afterAll(() => world.host.stop(0));

/** The credentials of a request. */
interface Prepared {
  readonly session: string;
  readonly token: string;
  readonly code: string;
}

type Cause = (host: PublicHost, prepared: Prepared) => Sent | Promise<Sent>;

const SIGNED = JSON.stringify({ order: 1 });
const fields = (svc_token: string, more: Record<string, string> = {}) =>
  new URLSearchParams({ name: 'Ada', svc_token, ...more });
const withFile = ({ token }: Prepared) => {
  const form = new FormData();
  form.append('svc_token', token);
  form.append('file', new Blob(['x']), 'x.txt');
  return form;
};

/** A path with another method and another verification each, and the requests that cause its answers, by their status. */
const ROUTES: readonly [operationId: string, good: Cause, causes: Readonly<Record<number, Cause>>][] = [
  [
    'beginPublicChatSession',
    () => ({ method: 'POST', path: '/public-chat/sessions' }),
    { 413: () => ({ method: 'POST', path: '/public-chat/sessions', body: TOO_LARGE }) },
  ],
  [
    'sendPublicChatMessage',
    (host, { session }) => host.say(session),
    {
      400: (host, { session }) => host.say(session, {}),
      401: (host) => host.say('svcs_AAAA'),
      409: async (host, { session }) => {
        const key = { 'idempotency-key': 'a-key-of-twenty-two-characters' };
        await host.send(host.say(session, { message: 'one' }, key));
        return host.say(session, { message: 'two' }, key);
      },
      413: (host, { session }) => host.say(session, { message: TOO_LARGE }),
      415: (host, { session }) => host.say(session, { message: 'x' }, TEXT_BODY),
    },
  ],
  [
    'readPublicChatTurn',
    async (host, { session }) => host.read(session, (await host.send(host.say(session))).body.runId),
    {
      401: (host) => host.read('svcs_AAAA', 'run_1'),
      404: (host, { session }) => host.read(session, 'run_1'),
    },
  ],
  [
    'getFormToken',
    (host) => host.askToken(),
    { 403: (host) => host.askToken({}), 404: (host) => host.askToken({ origin: PAGE }, 'trg_unknown') },
  ],
  [
    'submitForm',
    (host, { token }) => host.submit(fields(token)),
    {
      400: (host, prepared) => host.submit(withFile(prepared)),
      403: (host) => host.submit(fields('no-token')),
      404: (host, { token }) => host.submit(fields(token), { origin: PAGE }, 'trg_unknown'),
      413: (host, { token }) => host.submit(fields(token, { name: TOO_LARGE })),
      415: (host) => host.submit('{}', { origin: PAGE, ...JSON_BODY }),
    },
  ],
  [
    'ingestTriggerMessage',
    (host) => host.ingest(SIGNED),
    {
      400: (host) => host.ingest('{'),
      401: (host) => host.ingest(SIGNED, { 'x-hub-signature-256': 'sha256=00' }),
      404: (host) => host.ingest(SIGNED, {}, 'trg_unknown'),
      413: (host) => host.ingest(JSON.stringify(TOO_LARGE)),
      415: (host) => host.ingest(SIGNED, TEXT_BODY),
    },
  ],
  [
    'relayTriggerEmail',
    (host) => host.relay('hello'),
    {
      400: (host) => host.relay('x', { 'svc-helo': '' }),
      401: (host) => host.relay('x', { authorization: 'Bearer wrong' }),
      403: (host) => host.relay('spoofed'),
      404: (host) => host.relay('x', {}, 'trg_unknown'),
      413: (host) => host.relay(TOO_LARGE),
      415: (host) => host.relay('x', TEXT_BODY),
      503: (host) => host.relay('unjudged'),
    },
  ],
  [
    'exchangePortalCode',
    (host, { code }) => host.exchange(JSON.stringify({ code })),
    {
      400: (host) => host.exchange('{}'),
      401: (host) => host.exchange(JSON.stringify({ code: `svc_portal_code_${'0'.repeat(64)}` })),
      413: (host) => host.exchange(JSON.stringify({ code: TOO_LARGE })),
      415: (host, { code }) => host.exchange(JSON.stringify({ code }), TEXT_BODY),
    },
  ],
  [
    'receiveLogout',
    (host) => host.logout('logout_token=good'),
    {
      400: (host) => host.logout('logout_token=bad'),
      413: (host) => host.logout(TOO_LARGE),
      415: (host) => host.logout('{}', JSON_BODY),
    },
  ],
];

async function prepared(): Promise<Prepared> {
  const { body } = await world.send(world.askToken());
  return { session: await world.session(), token: body.token, code: await world.code() };
}

interface Operation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly securitySchemes: Readonly<Record<string, unknown>> };
}

async function documentAt(path: string, { host }: Pick<PublicHost, 'host'> = world): Promise<Document> {
  return (await host.fetch(new Request(`https://svc.example.com/host/example${path}`))).json();
}

const operationsIn = ({ paths }: Document) => Object.values(paths).flatMap((methods) => Object.values(methods));

/** The operations of both descriptions, by their names. */
async function described(): Promise<ReadonlyMap<string, Operation>> {
  const documents = [await documentAt('/openapi.json'), await documentAt('/portal/openapi.json')];
  return new Map(documents.flatMap(operationsIn).map((operation) => [operation.operationId, operation]));
}

describe(covers('operations.openapi.describes-every-answer'), () => {
  test.each(
    ROUTES.flatMap(([operationId, , causes]) =>
      Object.entries(causes).map(([status, cause]) => [operationId, Number(status), cause] as const),
    ),
  )('%s describes its answer %d', async (_operationId, status, cause) => {
    expect(await world.send(await cause(world, await prepared()))).toMatchObject({ status });
  });

  test.each(ROUTES)('%s describes the answer to a request that it takes', async (_operationId, good) => {
    const { status } = await world.send(await good(world, await prepared()));
    expect([200, 201, 202]).toContain(status);
  });

  test.each(ROUTES)('%s describes its answer 429 to one request too many', async (_operationId, good) => {
    const sent = await good(world, await prepared());
    expect(await world.flood(sent)).toMatchObject({ status: 429 });
  });

  const stored = ROUTES.filter(([operationId]) => !['beginPublicChatSession', 'receiveLogout'].includes(operationId));
  test.each(stored)('%s describes its answer 503 while the store is away', async (_operationId, good) => {
    const sent = await good(world, await prepared());
    world.broken.isAway = true;
    try {
      expect(await world.send(sent)).toMatchObject({ status: 503 });
    } finally {
      world.broken.isAway = false;
    }
  });

  test('sendPublicChatMessage describes its answer 403 for a workspace that the host does not have', async () => {
    const session = await world.session();
    world.state.hasWorkspace = false;
    try {
      expect(await world.send(world.say(session))).toMatchObject({ status: 403 });
    } finally {
      world.state.hasWorkspace = true;
    }
  });

  test('receiveLogout describes its answer 500 when its receiver fails', async () => {
    world.state.receiverFails = true;
    try {
      expect(await world.send(world.logout('logout_token=good'))).toMatchObject({ status: 500 });
    } finally {
      world.state.receiverFails = false;
    }
  });

  test('every route with a verification of its own has limits, which may refuse each request', async () => {
    const operations = await described();
    for (const [operationId] of ROUTES) {
      const { responses } = operations.get(operationId) ?? {};
      expect(Object.keys(responses ?? {})).toEqual(expect.arrayContaining(['400', '413', '429', '500', '503']));
    }
  });
});

describe('a route with a verification of its own', () => {
  test.each([
    ['sendPublicChatMessage', 'publicChatSession'],
    ['readPublicChatTurn', 'publicChatSession'],
    ['relayTriggerEmail', 'triggerEmailSecret'],
  ])('%s demands the bearer credential %s, and no other', async (operationId, name) => {
    const { components } = await documentAt('/openapi.json');
    expect((await described()).get(operationId)?.security).toEqual([{ [name]: [] }]);
    expect(components.securitySchemes[name]).toEqual({
      type: 'http',
      scheme: 'bearer',
      description: expect.any(String),
    });
  });

  test.each([
    ['submitForm', ['application/x-www-form-urlencoded', 'multipart/form-data']],
    ['ingestTriggerMessage', ['application/json']],
    ['relayTriggerEmail', ['message/rfc822']],
    ['receiveLogout', ['application/x-www-form-urlencoded']],
  ])('%s describes its body', async (operationId, types) => {
    expect(Object.keys((await described()).get(operationId)?.requestBody?.content ?? {})).toEqual(types);
  });

  test('relayTriggerEmail demands the facts of the SMTP session', async () => {
    const { parameters = [] } = (await described()).get('relayTriggerEmail') ?? {};
    expect(parameters.filter((each) => each.required === true).map((each) => each.name)).toEqual([
      ...['triggerId', 'SVC-Client-Address', 'SVC-Helo', 'SVC-Mail-From', 'SVC-Rcpt-To'],
    ]);
  });
});

describe('a public route of another mount', () => {
  const lane = apiKeyLane({ keys: memoryKeyStore([]) });
  const hostWith = (...routes: readonly MountRoute[]) =>
    createHost({
      ...{ store: memoryStore(), authenticate: [lane], engine: async () => ({}), secretKey: new Uint8Array(32) },
      authorization: { hasWorkspace: () => true },
      mounts: [() => ({ name: 'inbox', path: '/inbox', routes })],
      ports: { log: () => {} },
    });
  const inbox = (name: string, description?: string) =>
    publicMountRoute({
      ...{ method: 'POST', path: `/inbox/${name}/{letterId}`, takesBody: true },
      ...(description !== undefined && {
        describes: {
          ...{ operationId: `send${name}`, summary: 'Send a letter', description: 'Takes a letter.', answers: {} },
          credential: { name: 'inboxKey', description },
        },
      }),
      verify: () => Promise.reject(new Error('never asked')),
      serve: async () => ({ status: 200 }),
    });

  test('that describes nothing may refuse a caller in every way', async () => {
    const document = await documentAt('/openapi.json', { host: hostWith(inbox('a')) });
    const operation = operationsIn(document).find(({ operationId }) => operationId === 'postInboxALetterId');
    expect(Object.keys(operation?.responses ?? {})).toEqual([
      ...['200', '400', '401', '403', '413', '415', '429', '500', '503'],
    ]);
    expect(operation?.parameters).toEqual([expect.objectContaining({ name: 'letterId', in: 'path', required: true })]);
  });

  test('may share its credential with another one', async () => {
    const { components } = await documentAt('/openapi.json', {
      host: hostWith(inbox('a', 'A key.'), inbox('b', 'A key.')),
    });
    expect(components.securitySchemes.inboxKey).toMatchObject({ description: 'A key.' });
  });

  test('with a credential that is named like another one is refused', () => {
    expect(() => hostWith(inbox('a', 'A key.'), inbox('b', 'Another key.'))).toThrow(
      new TypeError('mounts: two credentials are named inboxKey. Change the name of one of them.'),
    );
  });
});
