import { stepUp } from '@svc/auth';
import { hashApiKey } from '@svc/auth/api-key';
import { expect, test } from 'vitest';
import { startKeyHost } from './key-host.ts';

const ADMIN = 'operator-key-that-manages-keys-0123456789';

test('a rule on keys:assign guards each way to a key of another principal, and no other key', async () => {
  const scopes = ['keys:manage', 'keys:assign', 'runs:read'];
  const admin = { ...{ id: 'admin', hash: hashApiKey(ADMIN), tenant: 'acme', mode: 'live' as const, scopes } };
  const held = { workspaces: ['prod'], principal: 'p_admin' };
  const others = { ...admin, ...held, id: 'others', hash: hashApiKey(`${ADMIN}-of-another`), principal: 'p_other' };
  const rule = { scopes: ['keys:assign'], stepUp: stepUp({ acrValues: ['phr'] }) };
  const host = await startKeyHost([{ ...admin, ...held }, others], { stepUp: [rule] });
  const send = async (path: string, body: object) => (await host.send(path, { key: ADMIN, body })).status;
  const key = { name: 'k', scopes: ['runs:read'] };
  expect(await send('', key)).toBe(201);
  expect(await send('', { ...key, principal: 'p_other' })).toBe(401);
  expect(await send('/others/rotate', {})).toBe(401);
  await host.stop();
});
