import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, startAcme } from './acme-host.ts';

const PATH = '/host/example/public-chat';
const SURFACE = { tenant: 'acme', workspace: 'acme-prod', perClient: { limit: 12, windowSeconds: 3600 } };

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({}, { mounts: { publicChat: SURFACE } });
});
afterAll(() => host.stop());

async function send(path: string, { session, body, ...headers }: Record<string, string | undefined> = {}) {
  const response = await fetch(host.url() + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(session !== undefined && { authorization: `Bearer ${session}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function begin(): Promise<string> {
  return JSON.parse((await send(`${PATH}/sessions`, { body: '' })).text).session;
}

describe(covers('runs.anonymous.id-host-minted', 'runs.anonymous.kind-on-run'), () => {
  test('a visitor begins a session, talks, and survives a crash of the host', async () => {
    const { session, first } = await host.killAfter(async () => {
      const session = await begin();
      return { session, first: JSON.parse((await send(PATH, { session, body: '{"message":"hello"}' })).text) };
    });
    expect(first).toMatchObject({ status: 'completed', reply: 'hello' });
    const again = await send(`${PATH}/${first.runId}`, { session });
    expect(JSON.parse(again.text)).toEqual(first);
    const { body: run } = await host.call(`/v1/runs/${first.runId}`);
    expect(run.owner).toMatchObject({ workspace: 'acme-prod', principalKind: 'anonymous' });
    expect(run.owner.principal).toMatch(/^anon_[0-9a-f]{32}$/);
  });

  test('a visitor reads nothing of the workspace, and no other session', async () => {
    const [session, other] = [await begin(), await begin()];
    const { runId } = JSON.parse((await send(PATH, { session: other, body: '{"message":"mine"}' })).text);
    expect((await send(`${PATH}/${runId}`, { session })).status).toBe(404);
    expect((await send(`/v1/runs/${runId}`, { session })).status).toBe(401);
    expect((await send(`${PATH}/${runId}`)).status).toBe(401);
  });

  test('the requests of one address are limited, and the refusals are logged', async () => {
    const statuses: number[] = [];
    while (statuses.at(-1) !== 429 && statuses.length < 20)
      statuses.push((await send(PATH, { session: 'svcs_AAAA', body: '{"message":"x"}' })).status);
    expect(statuses.at(-1)).toBe(429);
    const refused = host.stderr().flatMap((line) => (line.includes('"request.refused"') ? [JSON.parse(line)] : []));
    expect(refused).toContainEqual(expect.objectContaining({ code: 'unauthenticated', path: PATH }));
    expect(refused).toContainEqual(expect.objectContaining({ code: 'rate_limited' }));
  });

  test('is advertised', async () => {
    const { body } = await host.call('/.well-known/svc', { major: '2' });
    expect(body.anonymousActor).toBeDefined();
    expect(body.extensions['example.public-chat']).toEqual({ path: PATH });
  });
});

test('without its key in the configuration there is no public chat', async () => {
  const plain = await startAcme({});
  try {
    const response = await fetch(`${plain.url()}${PATH}/sessions`, { method: 'POST' });
    expect(response.status).toBe(404);
    const { body } = await plain.call('/.well-known/svc', { major: '2' });
    expect(body.anonymousActor).toBeUndefined();
  } finally {
    await plain.stop();
  }
});
