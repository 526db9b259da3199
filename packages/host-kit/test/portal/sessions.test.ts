import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { forgetSessions } from '../../src/portal/forget-sessions.ts';
import { isEmbeddingOrigin } from '../../src/wire/portal-session.ts';
import { ALL_ACTIONS, PAGE, portalHost } from './portal-host.ts';

const ORIGIN = 'https://app.acme.example';

describe(covers('portal.session.created'), () => {
  test('the answer has a URL with the code in the fragment, and the page is told the origin', async () => {
    const { create } = await portalHost();
    const fields = { actions: ALL_ACTIONS, eventTypes: ['run.failed'], origin: ORIGIN, theme: { accent: 'teal' } };
    const { status, body, headers } = await create('owner', fields);
    expect(status).toBe(201);
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(body.url).toBe(`${PAGE}?origin=https%3A%2F%2Fapp.acme.example#code=${body.code}`);
    expect(body.session).toMatchObject({
      ...{ state: 'created', mode: 'live', workspaces: ['acme-prod'], eventTypes: ['run.failed'], origin: ORIGIN },
      ...{ actions: ALL_ACTIONS, createdBy: 'p_owner', theme: { scheme: 'auto', accent: 'teal', corners: 'slight' } },
    });
  });

  test.each([
    ['owner', ['acme-dev'], 403],
    ['owner', ['acme-prod', 'acme-dev'], 403],
    ['owner', ['no-such-workspace'], 403],
    ['owner', ['*'], 403],
    ['owner', ['acme-prod'], 201],
    ['operator', ['*'], 201],
    ['operator', ['acme-dev'], 201],
    ['reader', ['*'], 403],
  ] as const)('%s may create a session for %j: %i', async (caller, workspaces, status) => {
    const { create } = await portalHost();
    expect((await create(caller, { workspaces })).status).toBe(status);
  });

  test('a workspace of others and one that does not exist get the same answer', async () => {
    const { create } = await portalHost();
    const [other, unknown] = [
      await create('owner', { workspaces: ['acme-dev'] }),
      await create('owner', { workspaces: ['x'] }),
    ];
    expect(other.body).toEqual(unknown.body);
  });

  test('a session ends with the credential that created it', async () => {
    const { create, clock } = await portalHost();
    const { body } = await create('dev', { expiresInSeconds: 3600 });
    expect(Date.parse(body.session.expiresAt)).toBe(clock.now() + 300_000);
  });

  test.each([
    ['no action', { actions: [] }],
    ['no view', { actions: ['redrive'] }],
    ['an unknown action', { actions: ['view', 'register'] }],
    ['a repeated action', { actions: ['view', 'view'] }],
    ['an unknown event type', { eventTypes: ['run.exploded'] }],
    ['a wildcard beside a name', { eventTypes: ['*', 'run.failed'] }],
    ['no workspace', { workspaces: [] }],
    ['an unknown accent', { theme: { accent: 'red;background:url(x)' } }],
    ['a member that is unknown', { css: 'body{}' }],
    ['a wildcard origin', { origin: '*' }],
    ['an origin with a path', { origin: `${ORIGIN}/embed` }],
    ['two origins', { origin: `${ORIGIN} https://evil.example` }],
    ['an origin with a directive', { origin: `${ORIGIN};script-src *` }],
    ['an origin without TLS', { origin: 'http://app.acme.example' }],
    ['an origin with a wildcard host', { origin: 'https://*.acme.example' }],
  ])('a session with %s is refused', async (_, fields) => {
    const { create } = await portalHost();
    const { status, body } = await create('owner', fields);
    expect([status, body.error]).toEqual([400, 'validation_error']);
  });

  test('an origin that is accepted is a source of the policy, and nothing else', () => {
    const parts = fc.constantFrom(
      'https://',
      'http://',
      'a',
      '.',
      'example',
      '*',
      ':',
      '80',
      ';',
      ' ',
      ',',
      "'",
      '/',
      '@',
      '[::1]',
      'localhost',
      '-',
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 8 }), (some) => {
        const text = some.join('');
        if (isEmbeddingOrigin(text)) expect(text).toMatch(/^https?:\/\/[a-z0-9.:[\]-]+$/);
      }),
    );
    for (const origin of [ORIGIN, `${ORIGIN}:8443`, 'http://localhost:5173', 'http://[::1]:80'])
      expect(isEmbeddingOrigin(origin)).toBe(true);
  });
});

describe(covers('portal.session.bounds'), () => {
  test.each([59, 3601, 60.5, '900'])('a lifetime of %j seconds is refused', async (expiresInSeconds) => {
    const { create } = await portalHost();
    expect((await create('owner', { expiresInSeconds })).status).toBe(400);
  });

  test('a token is refused from its expiry on, and a session is deleted a day later', async () => {
    const { open, clock, store, call } = await portalHost();
    const { portal, session } = await open('owner', { expiresInSeconds: 60 });
    clock.advance(59_999);
    expect((await portal('GET', '/session')).status).toBe(200);
    clock.advance(1);
    expect((await portal('GET', '/session')).status).toBe(401);
    const read = () => call('owner', 'GET', `/host/example/portal-sessions/${session.sessionId}`);
    expect((await read()).body.state).toBe('expired');
    const forget = () => forgetSessions({ store, clock })(new AbortController().signal);
    await forget();
    expect((await read()).status).toBe(200);
    clock.advance(86_400_001);
    await forget();
    expect((await read()).status).toBe(404);
  });

  test('a tenant has a bounded number of sessions that have not ended', async () => {
    const { create, call, clock } = await portalHost({ features: { portal: { pageUrl: PAGE, maxOpenPerTenant: 2 } } });
    const made = await Promise.all([create('owner'), create('owner'), create('operator')]);
    expect(made.map(({ status }) => status).toSorted()).toEqual([201, 201, 400]);
    expect((await create('stranger')).status).toBe(201);
    const id = made.find(({ status }) => status === 201)?.body.session.sessionId;
    await call('operator', 'POST', `/host/example/portal-sessions/${id}/revoke`);
    expect([(await create('owner')).status, (await create('owner')).status]).toEqual([201, 400]);
    clock.advance(900_000);
    expect((await create('owner')).status).toBe(201);
  });

  test.each([{ pageUrl: 'portal' }, { pageUrl: `${PAGE}?a=1` }, { pageUrl: PAGE, maxOpenPerTenant: 0 }])(
    'a host does not start with the options %j',
    async (portal) => {
      await expect(portalHost({ features: { portal } })).rejects.toThrow(/^features\.portal\./);
    },
  );
});

describe(covers('portal.session.code-once'), () => {
  test('a code is exchanged once, also by requests at the same time', async () => {
    const { create, exchange } = await portalHost();
    const { code } = (await create('owner')).body;
    const answers = await Promise.all([exchange(code), exchange(code), exchange(code)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
    expect((await exchange(code)).status).toBe(401);
  });

  test('every code that is not exchangeable gets the same answer', async () => {
    const { create, exchange, call, clock } = await portalHost();
    const made = async (fields: object = {}) => (await create('owner', fields)).body;
    const [used, revoked, framed, late] = [await made(), await made(), await made({ origin: ORIGIN }), await made()];
    await exchange(used.code);
    await call('owner', 'POST', `/host/example/portal-sessions/${revoked.session.sessionId}/revoke`);
    const refusals = [
      await exchange(used.code),
      await exchange(revoked.code),
      await exchange(framed.code, { origin: 'https://evil.example' }),
      await exchange(framed.code, { origin: null }),
      await exchange(`svc_portal_code_${'0'.repeat(64)}`),
      await exchange('x'),
    ];
    clock.advance(60_000);
    refusals.push(await exchange(late.code));
    expect(new Set(refusals.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
    expect(refusals[0]?.status).toBe(401);
  });

  test('a code is not used up by a page for another origin', async () => {
    const { create, exchange } = await portalHost();
    const { code } = (await create('owner', { origin: ORIGIN })).body;
    expect((await exchange(code, { origin: 'https://evil.example' })).status).toBe(401);
    expect((await exchange(code, { origin: ORIGIN })).status).toBe(200);
  });

  test.each([{}, { code: 5 }, { code: 'x', more: 1 }, []])('a body %j is refused', async (body) => {
    const { send } = await portalHost();
    expect((await send(undefined, 'POST', '/host/example/portal/exchange', body)).status).toBe(400);
  });

  test('the exchanges of one client are limited', async () => {
    const { exchange } = await portalHost();
    const statuses = [];
    for (let turn = 0; turn < 61; turn++) statuses.push((await exchange('x', {}, '192.0.2.44')).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
  });
});

describe(covers('portal.session.secrets'), () => {
  test('neither the code nor the token is in the store or the audit log', async () => {
    const { open, store, facts } = await portalHost();
    const { code, token, session } = await open('owner');
    const tenancy = { tenant: 'acme', workspaces: 'all', mode: 'live' } as const;
    const stored = JSON.stringify([await store.portalSessions.find(tenancy, session.sessionId), await facts('')]);
    expect(stored).toContain(session.sessionId);
    for (const secret of [code, token]) expect(stored).not.toContain(secret.slice(-32));
  });

  test('a token whose digest begins like another one is not that one', async () => {
    const { open, store, send } = await portalHost();
    const { token, session } = await open('owner');
    const tenancy = { tenant: 'acme', workspaces: 'all', mode: 'live' } as const;
    const stored = await store.portalSessions.find(tenancy, session.sessionId);
    if (stored?.tokenDigest === undefined) throw new Error('The session has no token.');
    const forged = { ...stored, sessionId: 'pts_forged', codeDigest: `${stored.tokenDigest.slice(0, 63)}x` };
    await store.transaction((transaction) =>
      store.portalSessions.insert({ ...forged, tokenDigest: forged.codeDigest }, transaction),
    );
    const read = await send(token, 'GET', '/host/example/portal/session');
    expect(read.body.sessionId).toBe(session.sessionId);
  });
});

describe(covers('portal.session.revoked'), () => {
  test('a revoked session is refused at once, and a repetition changes nothing', async () => {
    const { open, call, facts } = await portalHost();
    const { portal, session } = await open('owner');
    const revoke = () => call('operator', 'POST', `/host/example/portal-sessions/${session.sessionId}/revoke`);
    const [first, second] = [await revoke(), await revoke()];
    expect(first.body).toMatchObject({ state: 'revoked' });
    expect(second.body).toEqual(first.body);
    expect((await portal('GET', '/session')).status).toBe(401);
    expect(await facts('portal-session.revoke')).toHaveLength(1);
  });

  test('the holder ends its session', async () => {
    const { open, facts } = await portalHost();
    const { portal } = await open('owner');
    expect((await portal('POST', '/session/end')).status).toBe(200);
    expect((await portal('GET', '/session')).status).toBe(401);
    expect((await facts('portal-session.revoke'))[0]?.details).toMatchObject({ lane: 'portal' });
  });

  test('a caller lists and reads the sessions within its workspaces alone', async () => {
    const { open, call } = await portalHost();
    const ids = [];
    for (const caller of ['owner', 'operator', 'dev', 'stranger'] as const)
      ids.push((await open(caller)).session.sessionId);
    const [ofOwner, ofOperator, ofDev, ofStranger] = ids;
    const listed = async (caller: Parameters<typeof call>[0], query = '') =>
      (await call(caller, 'GET', `/host/example/portal-sessions${query}`)).body;
    const idsOf = ({ sessions }: { sessions: { sessionId: string }[] }) => sessions.map(({ sessionId }) => sessionId);
    expect(idsOf(await listed('owner'))).toEqual([ofOwner]);
    expect(idsOf(await listed('operator')).toSorted()).toEqual([ofOwner, ofOperator, ofDev].toSorted());
    expect(idsOf(await listed('stranger'))).toEqual([ofStranger]);
    const page = await listed('operator', '?limit=2');
    expect(idsOf(await listed('operator', `?before=${page.nextBefore}`))).toHaveLength(1);
    expect((await listed('operator', '?before=%00')).error).toBe('validation_error');
    const unknown = await call('owner', 'GET', '/host/example/portal-sessions/pts_unknown');
    for (const id of [ofOperator, ofDev, ofStranger])
      for (const [method, suffix] of [
        ['GET', ''],
        ['POST', '/revoke'],
      ] as const) {
        const other = await call('owner', method, `/host/example/portal-sessions/${id}${suffix}`);
        expect([other.status, other.body]).toEqual([404, unknown.body]);
      }
  });
});

describe(covers('portal.session.audited'), () => {
  test('creation, exchange and changes name the caller, the session and the lane', async () => {
    const { open, facts, register } = await portalHost();
    const webhookId = await register('owner', ['run.failed'], 'acme-prod');
    const { session, portal } = await open('owner', { actions: ALL_ACTIONS, origin: ORIGIN });
    await portal('POST', `/webhooks/${webhookId}/pause`);
    const target = `acme/${session.sessionId}`;
    const [created, exchanged] = await facts('portal-session.');
    expect(created).toMatchObject({
      ...{ actor: 'p_owner', target, action: 'portal-session.create' },
      details: { credential: 'key_owner', actions: ALL_ACTIONS.join(' '), workspaces: 'acme-prod', origin: ORIGIN },
    });
    const held = { lane: 'portal', credential: session.sessionId };
    expect(exchanged).toMatchObject({ action: 'portal-session.exchange', target, details: held });
    expect((await facts('webhook.pause'))[0]).toMatchObject({ actor: 'p_owner', details: held });
  });
});
