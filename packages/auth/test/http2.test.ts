import { once } from 'node:events';
import { createServer, type Http2Server } from 'node:http2';
import { connect } from 'node:net';
import { authenticator } from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { guard } from '@svc/auth/node';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const KEY = 'operator_brought_key_of_enough_characters';
const OTHER = 'operator_brought_key_of_another_principal';
const record = (id: string, key: string) => ({
  id,
  hash: hashApiKey(key),
  tenant: 'acme',
  workspaces: 'all' as const,
  principal: `p_${id}`,
  scopes: ['runs:read'],
  mode: 'live' as const,
});
const keys = memoryKeyStore([record('key_1', KEY), record('key_2', OTHER)]);
const admitted = guard({
  authenticator: authenticator({ lanes: [apiKeyLane({ keys })] }),
  scope: 'runs:read',
});

let server: Http2Server;
let port = 0;
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const principal = await admitted(request, response);
    if (principal !== undefined) response.end(principal.id);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(() => {
  server.close();
});

/**
 * Sends a GET with any number of Authorization headers, frame by frame: Node's own client refuses to repeat one.
 *
 * @see RFC 9113, sections 3.4, 6.1 and 6.2; RFC 7541, section 6.2.2
 */
async function get(...authorization: readonly string[]): Promise<string> {
  const literal = (text: string) => Buffer.concat([Buffer.of(text.length), Buffer.from(text)]);
  const field = (name: string, value: string) => Buffer.concat([Buffer.of(0), literal(name), literal(value)]);
  const frame = (type: number, flags: number, stream: number, payload: Buffer) =>
    Buffer.concat([Buffer.of(0, payload.length >> 8, payload.length & 255, type, flags, 0, 0, 0, stream), payload]);
  const fields = [
    field(':method', 'GET'),
    field(':scheme', 'http'),
    field(':path', '/'),
    field(':authority', 'host.test'),
    ...authorization.map((value) => field('authorization', value)),
  ];
  const socket = connect(port, '127.0.0.1');
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0, Buffer.of())]));
  socket.write(frame(1, 0x5, 1, Buffer.concat(fields)));
  let received = Buffer.of();
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk]);
    const body = dataOf(received);
    if (body !== undefined) return body;
  }
  return 'closed without an answer';
}

/** Returns the payloads of the DATA frames once the last one is there. */
function dataOf(bytes: Buffer): string | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; at + 9 <= bytes.length; ) {
    const length = bytes.readUIntBE(at, 3);
    const payload = bytes.subarray(at + 9, at + 9 + length);
    if (payload.length < length) return undefined;
    if (bytes[at + 3] === 0) parts.push(payload);
    if (bytes[at + 3] === 0 && ((bytes[at + 4] ?? 0) & 1) === 1) return Buffer.concat(parts).toString();
    at += 9 + length;
  }
  return undefined;
}

describe(covers('auth.api-key.doubled-header-401'), () => {
  test('over HTTP/2, one key is accepted', async () => {
    expect(await get(`Bearer ${OTHER}`)).toBe('p_key_2');
  });

  test.each([
    ['of two holders', [`Bearer ${KEY}`, `Bearer ${OTHER}`]],
    ['of one holder', [`Bearer ${KEY}`, `Bearer ${KEY}`]],
    ['one of them wrong', [`Bearer ${KEY}`, 'Bearer wrong']],
  ])('over HTTP/2, two keys are refused: %s', async (_name, authorization) => {
    expect(JSON.parse(await get(...authorization)).error).toBe('unauthenticated');
  });
});
