import { memoryRateLimiter } from '@svc/auth/rate-limit';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY, type Serving, serve } from '../streams/serving.ts';

/** Permits one request, on a clock that stands still. */
const limiter = memoryRateLimiter({ limit: 1, windowSeconds: 60, now: () => 0, maxKeys: 10 });
let serving: Serving;

beforeAll(async () => {
  serving = await serve({ http: { rateLimit: limiter } });
  await fetch(`${serving.url}/v1/runs/run_1`, { headers: { authorization: `Bearer ${KEY}` } });
});
afterAll(() => serving.close());

describe('a request over the limit of its credential', () => {
  test(`${covers('errors.rate-limited.v1-details')} tells the limit and the time to retry in major 1`, async () => {
    const { status, headers, body } = await serving.json('/v1/runs/run_1');
    expect([status, headers.get('retry-after')]).toEqual([429, '60']);
    expect(body).toEqual({
      error: 'rate_limited',
      message: expect.stringContaining('60 s'),
      details: { window: 60, limit: 1, current: 1, retryAfterSeconds: 60 },
    });
  });

  test('tells the limit in major 2, and the time to retry only in the header', async () => {
    const { status, headers, body } = await serving.json('/runs/run_1', { 'svc-version': '2' });
    expect([status, headers.get('retry-after')]).toEqual([429, '60']);
    expect(body.details).toEqual({ window: 60, limit: 1, current: 1 });
  });
});
