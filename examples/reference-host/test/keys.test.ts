import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, KEY as PLAIN, startAcme, WIDE } from './acme-host.ts';
import { eventually } from './booted-host.ts';

const ADMIN = 'operator_brought_key_that_manages_the_keys_';
const DEV_ADMIN = 'operator_brought_key_that_manages_dev_keys_';
const TEST_ADMIN = 'operator_brought_key_that_manages_test_keys';
const OTHER_ADMIN = 'operator_brought_key_that_manages_other_key';
const ASSIGNER = 'operator_brought_key_that_assigns_keys_too_';
const SHORT_LIVED = 'operator_brought_key_that_ends_in_an_hour__';
const CONFINED = 'operator_brought_key_of_a_single_network___';
const SLOW = 'operator_brought_key_with_a_limit_of_its_own';
const METERED = 'operator_brought_key_with_a_quota_of_its_own';
const METERED_ADMIN = 'operator_brought_key_with_a_quota_that_manages';

const END = new Date(Date.now() + 3_600_000).toISOString();
const SCOPES = ['keys:manage', 'runs:create', 'runs:read', 'runs:cancel', 'audit:read'];
const managing = (id: string, key: string, fields: object = {}) => ({
  id,
  key,
  tenant: 'acme',
  workspaces: ['acme-prod'],
  principal: `p_${id}`,
  scopes: SCOPES,
  ...fields,
});
const plain = (id: string, key: string, fields: object = {}) =>
  managing(id, key, { scopes: ['runs:create', 'runs:read'], ...fields });

const APIKEYS = [
  plain('key_1', PLAIN, { name: 'The runner' }),
  plain('key_3', WIDE, { workspaces: ['*'], scopes: [...SCOPES, 'webhooks:manage'] }),
  managing('admin', ADMIN, { scopes: [...SCOPES, 'webhooks:manage'] }),
  managing('dev-admin', DEV_ADMIN, { workspaces: ['acme-dev'] }),
  managing('test-admin', TEST_ADMIN, { mode: 'test' }),
  managing('other-admin', OTHER_ADMIN, {
    tenant: 'umbrella',
    workspaces: ['*'],
    scopes: [...SCOPES, 'webhooks:manage'],
  }),
  managing('assigner', ASSIGNER, { scopes: [...SCOPES, 'keys:assign'] }),
  managing('short', SHORT_LIVED, { expiresAt: END }),
  managing('confined', CONFINED, {
    allowedAddresses: ['203.0.113.0/24', '2001:db8::/48'],
    rateLimit: { limit: 50, windowSeconds: 60 },
  }),
  plain('slow', SLOW, { rateLimit: { limit: 2, windowSeconds: 3600 } }),
  plain('metered', METERED, { quota: { limit: 3, period: 'month' } }),
  managing('metered-admin', METERED_ADMIN, { quota: { limit: 1000, period: 'month' } }),
];

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme(
    {},
    { apiKeys: APIKEYS, trustedProxies: { cidrs: ['127.0.0.0/8', '::1/128'], header: 'x-forwarded-for' } },
  );
});
afterAll(() => host.stop());

const KEYS = '/host/example/keys';
const create = (body: object, key = ADMIN, headers: Record<string, string> = {}) =>
  host.call(KEYS, { key, body: { name: 'A key', scopes: ['runs:read'], ...body }, headers });
const use = (key: string, headers: Record<string, string> = {}) =>
  host.call('/v1/runs/absent', { key, headers }).then(({ status }) => status);
const act = (id: string, action: string, body?: object, key = ADMIN) =>
  host.call(`${KEYS}/${id}/${action}`, { method: 'POST', key, ...(body !== undefined && { body }) });

/** The key is accepted: the run is absent. */
const ACCEPTED = 404;

describe('keys that a host makes', () => {
  test(`${covers('auth.api-key.hashed-at-rest')}: a new key is shown once, works at once, and is stored nowhere`, async () => {
    const { status, body, headers } = await create({ metadata: { team: 'billing' } });
    expect([status, headers.get('cache-control')]).toEqual([201, 'private, no-store']);
    expect(body.key).toMatch(/^svc_live_[0-9a-f]{72}$/);
    expect(body.apiKey).toMatchObject({
      name: 'A key',
      prefix: body.key.slice(0, 17),
      state: 'active',
      source: 'operation',
      workspaces: ['acme-prod'],
      principal: 'p_admin',
      scopes: ['runs:read'],
      metadata: { team: 'billing' },
    });
    expect(await use(body.key)).toBe(ACCEPTED);
    const read = await host.call(`${KEYS}/${body.apiKey.id}`, { key: ADMIN });
    expect(read.body).toEqual(body.apiKey);
    for (const suffix of ['', '-wal'])
      expect(readFileSync(host.path(`svc.db${suffix}`))).not.toContain(body.key.slice(17));
    expect(host.stderr().join('\n')).not.toContain(body.key.slice(17));
  });

  test('a repeated idempotency key makes no second key, and does not show the first again', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const first = await create({ name: 'Once' }, ADMIN, key);
    const again = await create({ name: 'Once' }, ADMIN, key);
    expect([again.status, again.headers.get('svc-idempotent-replay')]).toEqual([201, 'true']);
    expect(again.body).toEqual({ apiKey: first.body.apiKey, keyShownBefore: true });
    const { body } = await host.call(`${KEYS}?limit=200`, { key: ADMIN });
    expect(body.keys.filter(({ name }: { name: string }) => name === 'Once')).toHaveLength(1);
    expect((await create({ name: 'Twice' }, ADMIN, key)).status).toBe(409);
  });

  test('keys are listed in pages, by state and by principal, within the reach of the caller', async () => {
    const ids: string[] = [];
    for (let after = ''; ; ) {
      const { body } = await host.call(`${KEYS}?limit=2&after=${after}`, { key: ADMIN });
      ids.push(...body.keys.map(({ id }: { id: string }) => id));
      if (body.nextAfter === undefined) break;
      after = body.nextAfter;
    }
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain('admin');
    expect(ids).toContain('key_1');
    for (const unreachable of ['key_3', 'dev-admin', 'test-admin', 'other-admin'])
      expect(ids).not.toContain(unreachable);
    const listed = async (query: string) =>
      (await host.call(`${KEYS}?${query}`, { key: ADMIN })).body.keys.map(({ id }: { id: string }) => id);
    expect(await listed('principal=p_slow')).toEqual(['slow']);
    expect(await listed('principal=p_slow&state=revoked')).toEqual([]);
    expect((await host.call(`${KEYS}?state=gone`, { key: ADMIN })).status).toBe(400);
    expect((await host.call(`${KEYS}/key_1`, { key: ADMIN })).body).toMatchObject({
      name: 'The runner',
      source: 'configuration',
    });
  });

  test.each([
    ['another workspace', DEV_ADMIN],
    ['the other mode', TEST_ADMIN],
    ['another tenant', OTHER_ADMIN],
  ])('a caller of %s finds no key, and changes none', async (_, caller) => {
    const { body } = await create({});
    const { id } = body.apiKey;
    const refused = [
      await host.call(`${KEYS}/${id}`, { key: caller }),
      await host.call(`${KEYS}/${id}`, { key: caller, method: 'PATCH', body: { name: 'Mine' } }),
      await act(id, 'rotate', {}, caller),
      await act(id, 'revoke', undefined, caller),
    ];
    expect(refused.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    const absent = await host.call(`${KEYS}/absent`, { key: caller });
    expect(refused[0]?.body).toEqual(absent.body);
    expect(await use(body.key)).toBe(ACCEPTED);
  });

  test('a caller without the scope is refused', async () => {
    expect((await create({}, PLAIN)).status).toBe(403);
    expect((await host.call(KEYS, { key: PLAIN })).status).toBe(403);
  });
});

describe('a caller gives no authority that it lacks', () => {
  test.each<[string, object, string]>([
    ['a scope', { scopes: ['artifacts:read'] }, ADMIN],
    ['a wildcard that covers more', { scopes: ['runs:*'] }, ADMIN],
    ['every workspace', { workspaces: ['*'] }, ADMIN],
    ['another workspace', { workspaces: ['acme-dev'] }, ADMIN],
    ['a workspace that does not exist', { workspaces: ['nowhere'] }, WIDE],
    ['another principal', { principal: 'p_chief' }, ADMIN],
    ['a later expiry', { expiresAt: '2099-01-01T00:00:00Z' }, SHORT_LIVED],
    ['more requests', { rateLimit: { limit: 51, windowSeconds: 60 } }, CONFINED],
    ['the same requests in a shorter time', { rateLimit: { limit: 50, windowSeconds: 30 } }, CONFINED],
    ['further addresses', { allowedAddresses: ['203.0.112.0/23'] }, CONFINED],
    ['a higher quota', { quota: { limit: 1001, period: 'month' } }, METERED_ADMIN],
    ['a quota of another period', { quota: { limit: 10, period: 'day' } }, METERED_ADMIN],
  ])('%s', async (_, body, caller) => {
    const refused = await create(body, caller, { 'x-forwarded-for': '203.0.113.9' });
    expect([refused.status, refused.body.error]).toEqual([403, 'forbidden']);
  });

  test('what it leaves out is its own', async () => {
    expect((await create({}, SHORT_LIVED)).body.apiKey.expiresAt).toBe(END);
    const { body } = await create({}, CONFINED, { 'x-forwarded-for': '203.0.113.9' });
    expect(body.apiKey).toMatchObject({
      allowedAddresses: ['203.0.113.0/24', '2001:db8::/48'],
      rateLimit: { limit: 50, windowSeconds: 60 },
    });
    const assigned = await create({ principal: 'p_chief', principalKind: 'user' }, ASSIGNER);
    expect(assigned.body.apiKey).toMatchObject({ principal: 'p_chief', principalKind: 'user' });
  });

  test('it rotates no key whose authority it lacks, and gives none a longer life', async () => {
    const { body } = await create({ scopes: ['webhooks:manage'] });
    expect((await act(body.apiKey.id, 'rotate', {}, SHORT_LIVED)).status).toBe(403);
    const ending = await create({ expiresAt: END });
    const { id } = ending.body.apiKey;
    const longer = (key: string) =>
      host.call(`${KEYS}/${id}`, { method: 'PATCH', key, body: { expiresAt: null } }).then(({ status }) => status);
    expect(await longer(SHORT_LIVED)).toBe(403);
    expect(await longer(ADMIN)).toBe(200);
  });

  test('it rotates no key whose limits are wider than its own', async () => {
    const { body } = await create({}, ASSIGNER);
    const from = { 'x-forwarded-for': '203.0.113.9' };
    const rotate = (caller: string) =>
      host.call(`${KEYS}/${body.apiKey.id}/rotate`, { method: 'POST', key: caller, body: {}, headers: from });
    const answers = [await rotate(CONFINED), await rotate(METERED_ADMIN)];
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      [403, 'forbidden'],
      [403, 'forbidden'],
    ]);
  });

  test.each<[string, object, string]>([
    ['an unknown field', { tenant: 'umbrella' }, ''],
    ['no scope', { scopes: [] }, 'scopes'],
    ['a malformed scope', { scopes: ['runs:re*'] }, 'scopes[0]'],
    ['a past expiry', { expiresAt: '2001-01-01T00:00:00Z' }, 'expiresAt'],
    ['a block that is none', { allowedAddresses: ['10.0.0.1/8'] }, 'allowedAddresses[0]'],
    ['a block that is too narrow', { allowedAddresses: ['2001:db8::1/128'] }, 'allowedAddresses[0]'],
    ['a name with a key', { name: `svc_live_${'a'.repeat(72)}` }, 'name'],
    ['an id that is not opaque', { principal: 'ada@example.com' }, 'principal'],
    ['a limit of nothing', { rateLimit: { limit: 0, windowSeconds: 1 } }, 'rateLimit.limit'],
  ])('%s is refused with its field', async (_, body, field) => {
    const refused = await create(body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.fields[0].field).toContain(field);
  });
});

describe('the end of a key', () => {
  test('a revoked key is refused at once, and a repeated revocation changes nothing', async () => {
    const { body } = await create({});
    expect(await use(body.key)).toBe(ACCEPTED);
    const revoked = await act(body.apiKey.id, 'revoke');
    expect([revoked.status, revoked.body.state]).toEqual([200, 'revoked']);
    const refused = await host.call('/v1/runs/absent', { key: body.key });
    expect([refused.status, refused.body.error]).toEqual([401, 'key_revoked']);
    expect((await act(body.apiKey.id, 'revoke')).body).toEqual(revoked.body);
  });

  test('after the answer to a revocation, no request is accepted under load', async () => {
    let tried = 0;
    for (let round = 0; round < 40; round++) {
      const { body } = await create({});
      let isAnswered = false;
      let acceptedLate = 0;
      const hammer = async () => {
        for (let left = 4; left > 0; ) {
          const beganAfter = isAnswered;
          const status = await use(body.key);
          tried++;
          if (beganAfter) {
            left--;
            if (status === ACCEPTED) acceptedLate++;
          }
        }
      };
      const hammers = [hammer(), hammer(), hammer()];
      await act(body.apiKey.id, 'revoke');
      isAnswered = true;
      await Promise.all(hammers);
      expect(acceptedLate).toBe(0);
    }
    expect(tried).toBeGreaterThan(400);
  });

  test('a stream under a revoked key ends', async () => {
    const { body } = await create({ scopes: ['runs:create', 'runs:read'] });
    const run = await host.call('/v1/runs', {
      key: body.key,
      body: { workflowId: 'delay', inputs: { ms: 60_000 } },
    });
    expect(run.status).toBe(201);
    const stream = await fetch(`${host.url()}/v1/runs/${run.body.runId}/events`, {
      headers: { authorization: `Bearer ${body.key}`, accept: 'text/event-stream' },
    });
    const read = stream.text();
    await act(body.apiKey.id, 'revoke');
    // Without an end, this would wait for the run.
    await read;
  });

  test('a rotated key is valid until its grace ends', async () => {
    const { body } = await create({ metadata: { team: 'x' } });
    const rotated = await act(body.apiKey.id, 'rotate', { graceSeconds: 3600 });
    expect(rotated.status).toBe(201);
    expect(rotated.body.apiKey).toMatchObject({ rotatedFrom: body.apiKey.id, name: 'A key', metadata: { team: 'x' } });
    expect(rotated.body.retired).toMatchObject({ rotatedTo: rotated.body.apiKey.id, state: 'active' });
    expect([await use(body.key), await use(rotated.body.key)]).toEqual([ACCEPTED, ACCEPTED]);
    expect((await act(body.apiKey.id, 'rotate', {})).status).toBe(400);
    const next = await act(rotated.body.apiKey.id, 'rotate', { graceSeconds: 0 });
    expect([await use(rotated.body.key), await use(next.body.key)]).toEqual([401, ACCEPTED]);
    await act(body.apiKey.id, 'revoke');
    expect(await use(body.key)).toBe(401);
  });

  test('scopes only become fewer, at once', async () => {
    const { body } = await create({ scopes: ['runs:read', 'runs:cancel'] });
    const path = `${KEYS}/${body.apiKey.id}`;
    const change = (fields: object) => host.call(path, { method: 'PATCH', key: ADMIN, body: fields });
    expect(await use(body.key)).toBe(ACCEPTED);
    expect((await change({ scopes: ['runs:cancel'], name: 'Less' })).body).toMatchObject({
      scopes: ['runs:cancel'],
      name: 'Less',
    });
    expect(await use(body.key)).toBe(403);
    expect((await change({ scopes: ['runs:read'] })).status).toBe(400);
    expect((await change({})).status).toBe(400);
  });

  test('an expired key is refused', async () => {
    const { body } = await create({ expiresAt: new Date(Date.now() + 1500).toISOString() });
    await eventually(async () => (await use(body.key)) === 401);
    expect((await host.call(`${KEYS}/${body.apiKey.id}`, { key: ADMIN })).body.state).toBe('expired');
  });
});

describe('limits of a key', () => {
  test('a key is accepted from its addresses alone, as the trusted proxy tells them', async () => {
    const from = (address: string) => use(CONFINED, { 'x-forwarded-for': address });
    expect(await from('203.0.113.77')).toBe(ACCEPTED);
    expect(await from('2001:db8:0:7::1')).toBe(ACCEPTED);
    const refused = await host.call('/v1/runs/absent', {
      key: CONFINED,
      headers: { 'x-forwarded-for': '198.51.100.1' },
    });
    const unknown = await host.call('/v1/runs/absent', { key: 'an_unknown_key_of_enough_characters_here' });
    expect([refused.status, refused.body]).toEqual([401, unknown.body]);
    // The client itself wrote the left entry.
    expect(await from('203.0.113.77, 198.51.100.1')).toBe(401);
    expect(await use(CONFINED)).toBe(401);
  });

  test('a key has its own rate limit', async () => {
    const answers = [await use(SLOW), await use(SLOW), await use(SLOW)];
    expect(answers).toEqual([ACCEPTED, ACCEPTED, 429]);
    expect(await use(PLAIN)).toBe(ACCEPTED);
  });
});

describe('the quota of a key', () => {
  const renewsAt = () => {
    const now = new Date();
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
  };

  test(`${covers('auth.rate-limit.quota')}: it is used up for the month, tells when it renews, and survives a restart`, async () => {
    expect([await use(METERED), await use(METERED), await use(METERED)]).toEqual([ACCEPTED, ACCEPTED, ACCEPTED]);
    const refused = await host.call('/v1/runs/absent', { key: METERED });
    expect([refused.status, refused.body.error]).toEqual([429, 'rate_limited']);
    expect(refused.body.message).toBe(
      `The quota of 3 requests in a month is used up. It renews at ${renewsAt()}: try again then.`,
    );
    expect(refused.body.details).toMatchObject({ limit: 3, current: 3 });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('ratelimit-policy')).toMatch(/^"quota";q=3;w=\d+$/);
    const read = () => host.call(`${KEYS}/metered`, { key: ADMIN }).then(({ body }) => body.quota);
    const quota = { limit: 3, period: 'month', used: 3, renewsAt: renewsAt() };
    expect(await read()).toEqual(quota);
    await host.reboot({}, { apiKeys: APIKEYS });
    expect([await use(METERED), await read()]).toEqual([429, quota]);
    expect(await use(PLAIN)).toBe(ACCEPTED);
  });
});

describe('keys of the configuration', () => {
  const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');

  test('a restart imports them again, revokes removed ones, and respects a revocation', async () => {
    await act('slow', 'revoke');
    expect(await use(SLOW)).toBe(401);
    expect((await host.call(`${KEYS}/key_1`, { method: 'PATCH', key: ADMIN, body: { name: 'x' } })).status).toBe(400);
    const made = await create({});
    const others = APIKEYS.filter(({ id }) => id !== 'key_1');
    await host.reboot({}, { apiKeys: others });
    expect([await use(PLAIN), await use(SLOW), await use(made.body.key)]).toEqual([401, 401, ACCEPTED]);
    expect((await host.call(`${KEYS}/key_1`, { key: ADMIN })).body.state).toBe('revoked');
    // The key comes back: under its id, and under another one with its hash.
    await host.reboot({}, { apiKeys: APIKEYS });
    expect([await use(PLAIN), await use(SLOW)]).toEqual([ACCEPTED, 401]);
    const { key: _, ...renamed } = { ...plain('renamed', PLAIN), hash: hashOf(PLAIN) };
    await host.reboot({}, { apiKeys: [...others, renamed] });
    expect(await use(PLAIN)).toBe(ACCEPTED);
    expect((await host.call(`${KEYS}/key_1`, { key: ADMIN })).status).toBe(404);
    // The id gets another key.
    await host.reboot({}, { apiKeys: [...others, plain('renamed', SLOW.replace('limit', 'bound'))] });
    expect([await use(PLAIN), await use(SLOW.replace('limit', 'bound'))]).toEqual([401, ACCEPTED]);
    await host.reboot({}, { apiKeys: APIKEYS });
    expect(await use(made.body.key)).toBe(ACCEPTED);
  });
});
