import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, KEY, MANIFEST, startAcme } from './acme-host.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({});
});
afterAll(() => host.stop());

describe(covers('operations.workflows.read'), () => {
  test.each([
    ['1', '/v1/workflows'],
    ['2', '/workflows'],
  ])('major %s', async (major, path) => {
    const read = (id: string, headers = {}) => host.call(`${path}/${id}`, { key: MANIFEST, major, headers });
    const delay = await read('delay');
    expect(delay).toMatchObject({
      status: 200,
      body: { workflowId: 'delay', inputSchema: { required: ['ms'], properties: { ms: { maximum: 60_000 } } } },
    });
    expect((await read('conformance-noop')).body).toMatchObject({ workflowId: 'conformance-noop' });
    const again = await read('delay', { 'if-none-match': delay.headers.get('etag') ?? '' });
    expect([again.status, again.body]).toEqual([304, undefined]);
    for (const id of ['nothing', 'toString', '%2e%2e%2fdelay']) expect((await read(id)).status).toBe(404);
    for (const id of ['%ff', 'd%00']) expect((await read(id)).status).toBe(400);
    const refused = await host.call(`${path}/delay`, { key: KEY, major });
    expect([refused.status, refused.body.error]).toEqual([403, 'forbidden']);
  });
});
