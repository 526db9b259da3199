import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, KEY, OTHER_TENANT, READER, startAcme } from './acme-host.ts';
import { MAJORS, runDriver } from './run-driver.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({ durable: true });
});
afterAll(() => host.stop());

describe.each(MAJORS)('in $name', (spoken) => {
  const { start, until, log, path, call } = runDriver(() => host, spoken);
  const isV1 = spoken.base === '/v1';

  async function made(content: unknown) {
    const runId = await start('artifact', { content });
    await until(runId, 'completed');
    const created = (await log(runId)).find(({ type }) => type === 'artifact.created');
    return { runId, created, artifactId: String(created?.payload.artifactId) };
  }

  const take = (place: string, accept: string, key = KEY) =>
    fetch(host.url() + spoken.base + place, {
      headers: { authorization: `Bearer ${key}`, 'svc-version': spoken.major, accept },
    });

  test(covers('events.types.artifact-created', 'operations.artifacts.read'), async () => {
    const { runId, created, artifactId } = await made({ text: 'a draft' });
    expect(created).toMatchObject({
      nodeId: 'artifact',
      payload: { artifactId, artifactType: 'sample', version: 1, nodeId: 'artifact' },
    });
    const answer = await call(path(runId, `/artifacts/${artifactId}`));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      ...{ artifactId, runId, nodeId: 'artifact', artifactType: 'sample', version: 1 },
      ...{ createdAt: expect.stringMatching(/Z$/), content: { text: 'a draft' } },
    });
  });

  test('an artifact is found under its own run alone, by callers who may read it', async () => {
    const [{ runId, artifactId }, other] = [await made('text'), await made('other')];
    const place = path(runId, `/artifacts/${artifactId}`);
    const at = async (where: string, key: string) => (await call(where, { key })).status;
    expect(await at(path(other.runId, `/artifacts/${artifactId}`), KEY)).toBe(404);
    expect(await at(path(runId, '/artifacts/none'), KEY)).toBe(404);
    expect(await at(place, READER)).toBe(403);
    expect(await at(place, DEV)).toBe(403);
    expect(await at(place, OTHER_TENANT)).toBe(isV1 ? 404 : 403);
  });

  test.each([
    ['application/a2a+json', true],
    ['application/json;q=0.5, application/a2a+json', true],
    ['application/json, application/a2a+json', false],
    ['application/a2a+json;q=0.5, */*', false],
    ['*/*', false],
    ['application/a2a+json;q=0', false],
  ])(`${covers('operations.artifacts.a2a')} Accept: %s`, async (accept, wantsA2a) => {
    const { runId, artifactId } = await made('plain text');
    const response = await take(path(runId, `/artifacts/${artifactId}`), accept);
    const isA2a = wantsA2a && !isV1;
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(isA2a ? 'application/a2a+json' : 'application/json');
    expect(/\baccept\b/i.test(response.headers.get('vary') ?? '')).toBe(!isV1);
    const body = await response.json();
    if (isA2a) expect(body).toEqual({ artifactId, name: 'sample', parts: [{ text: 'plain text' }] });
    else expect(body).toMatchObject({ artifactId, content: 'plain text' });
  });

  test('rejects a run without content', async () => {
    const answer = await call('/runs', { body: { workflowId: 'artifact', inputs: {} } });
    expect(answer).toMatchObject({ status: 400, body: { error: 'validation_error' } });
  });
});
