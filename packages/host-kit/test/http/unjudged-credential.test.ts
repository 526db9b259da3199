import { apiKeyLane, hashApiKey } from '@svc/auth/api-key';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY, type Serving, serve } from '../streams/serving.ts';

const OTHER = 'another_key_of_the_operator_0123456789';
const grants = { tenant: 'acme', workspaces: 'all', principal: 'p_1', scopes: ['runs:read'], mode: 'live' } as const;
const expiresAt = JSON.parse('null');
const rows = [
  { id: 'key_1', hash: hashApiKey(KEY), ...grants, expiresAt },
  { id: 'key_2', hash: hashApiKey(OTHER), ...grants },
];
let isDown = false;
let serving: Serving;

beforeAll(async () => {
  const candidates = async () => {
    if (isDown) throw new Error('the key store is down');
    return rows;
  };
  serving = await serve({ authenticate: [apiKeyLane({ keys: { candidates } })] });
});
afterAll(() => serving.close());

describe('a credential that the host cannot judge', () => {
  test.each([
    ['1', '/v1/runs/run_1'],
    ['2', '/runs/run_1'],
  ])('is refused with 503 in major %s while the key store is down, and the log has the cause', async (major, path) => {
    isDown = true;
    const { status, headers, body } = await serving.json(path, major === '2' ? { 'svc-version': '2' } : {});
    isDown = false;
    expect([status, headers.get('retry-after'), body.error]).toEqual([503, '5', 'service_unavailable']);
    expect(headers.has('www-authenticate')).toBe(false);
    expect(JSON.stringify(body)).not.toContain('key store is down');
    expect(serving.logged).toContainEqual(
      expect.objectContaining({
        level: 'error',
        event: 'authentication.failed',
        code: 'service_unavailable',
        error: 'the key store is down',
      }),
    );
  });

  test('is refused alone when its record is malformed, and the log names record and field', async () => {
    const { status, body } = await serving.json('/v1/runs/run_1');
    expect([status, body.error]).toEqual([401, 'unauthenticated']);
    expect(serving.logged).toContainEqual(
      expect.objectContaining({
        event: 'authentication.failed',
        code: 'unauthenticated',
        error: expect.stringMatching(/^API key key_1: expiresAt must be a time/),
      }),
    );
    const other = await fetch(`${serving.url}/v1/runs/run_1`, { headers: { authorization: `Bearer ${OTHER}` } });
    expect(other.status).toBe(404);
  });
});
