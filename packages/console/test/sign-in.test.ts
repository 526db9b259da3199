import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { offer, offered, session, signIn, signOut } from '../page/data/api.ts';

const DISCOVERY = { mounts: { 'example.status': { path: '/host/example/status' } } };
const KEY = 'svc_live_1';

const seen: string[] = [];
const server = createServer(({ url = '', headers }, response) => {
  seen.push(url);
  const isKnown = url === '/.well-known/svc' || headers.authorization === `Bearer ${KEY}`;
  response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
  response.end(JSON.stringify(isKnown ? DISCOVERY : { error: 'unauthenticated', message: 'Send a valid key.' }));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port }: Pick<AddressInfo, 'port'> = Object(server.address());
  const send = fetch;
  // A page names its host by a path alone.
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => send(new URL(path, `http://127.0.0.1:${port}`), init));
});

beforeEach(() => {
  signOut();
  offer(undefined);
  seen.length = 0;
});

afterAll(() => {
  vi.unstubAllGlobals();
  server.close();
});

describe('the key of a link', () => {
  test('is not offered again after its user has signed out', async () => {
    offer(KEY);
    await signIn(KEY);
    expect(session.value?.own).toBe('/host/example');
    signOut();
    expect(offered.value).toBeUndefined();
  });

  test('is not offered to the user after one who signed in with another key', async () => {
    offer('svc_live_of_a_stranger');
    await signIn(KEY);
    signOut('The host no longer accepts this credential. Sign in again.');
    expect(offered.value).toBeUndefined();
  });

  test('stays offered when the host refuses another one', async () => {
    offer(KEY);
    await expect(signIn('svc_live_2')).rejects.toMatchObject({ status: 401 });
    expect(offered.value).toBe(KEY);
  });

  test('is passed over while a session is under way', async () => {
    await signIn(KEY);
    offer('svc_live_of_a_stranger');
    signOut();
    expect(offered.value).toBeUndefined();
  });
});

test.each(['svc live', 'svc_live_…', '', 'a\nb'])('the key "%s" is refused before a request', async (key) => {
  await expect(signIn(key)).rejects.toMatchObject({ code: 'malformed' });
  expect(seen).toEqual([]);
});
