import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { type CheckpointObjects, type CheckpointRecord, checkpointObjectSink, ed25519Signer } from '@svc/auth/audit';
import { signedHead, witness } from '@svc/auth/audit-tree';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
const id = createHash('sha256').update('w.example\n').update(Buffer.of(4)).update(raw).digest().subarray(0, 4);
const KEY = `w.example+${id.toString('hex')}+${Buffer.concat([Buffer.of(4), raw]).toString('base64')}`;

const signer = await ed25519Signer(
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
);
const note = await signedHead({ origin: 'svc.example/audit', treeSize: 7, rootHash: 'ab'.repeat(32) }, signer);

function cosignature(text: string): string {
  const stamp = Buffer.alloc(8);
  stamp.writeBigUInt64BE(1_800_000_000n);
  const signature = sign(null, Buffer.from(`cosignature/v1\ntime 1800000000\n${text}`), privateKey);
  return `\u2014 w.example ${Buffer.concat([id, stamp, signature]).toString('base64')}\n`;
}
const good = cosignature(note.slice(0, note.indexOf('\n\n') + 1));

let server: Server;
let url = '';
let answer: { status: number; text: string } = { status: 200, text: '' };
const requests: { method: string | undefined; url: string | undefined; body: string }[] = [];
beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push({ method: request.method, url: request.url, body });
    response.writeHead(answer.status).end(answer.text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const ask = (oldSize = 3, proof: readonly string[] = ['cd'.repeat(32)]) =>
  witness({ url: `${url}/prefix/`, key: KEY, fetch }).cosign({ note, oldSize, proof }, new AbortController().signal);

describe('witness', () => {
  test('sends the old size, the proof and the note, and returns valid cosignatures alone', async () => {
    answer = { status: 200, text: `${good}${cosignature('another text\n')}` };
    expect(await ask()).toEqual({ kind: 'cosigned', lines: good });
    const proof = Buffer.alloc(32, 0xcd).toString('base64');
    expect(requests.at(-1)).toEqual({
      method: 'POST',
      url: '/prefix/add-checkpoint',
      body: `old 3\n${proof}\n\n${note}`,
    });
  });

  test.each([
    [409, '5\n', { kind: 'other-size', size: 5 }],
    [409, '0', { kind: 'other-size', size: 0 }],
    [409, '3\n', { kind: 'inconsistent' }],
    [422, '', { kind: 'inconsistent' }],
  ])('%i with %j is an answer', async (status, text, expected) => {
    answer = { status, text };
    expect(await ask()).toEqual(expected);
  });

  test.each([
    [200, '', 'no valid cosignature'],
    [200, cosignature('another text\n'), 'no valid cosignature'],
    [200, 'x'.repeat(20_000), 'longer than 16 KiB'],
    [409, 'many', 'without the size'],
    [409, '-1', 'without the size'],
    [403, '', 'trusts no key'],
    [404, '', 'does not know this log'],
    [500, 'secret', 'the status 500'],
    [302, '', 'the status 302'],
  ])('%i with %j is a failure', async (status, text, message) => {
    answer = { status, text };
    const failed = await ask().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(Error);
    expect(String(failed)).toContain(message);
    expect(String(failed)).not.toContain('secret');
  });

  test.each([
    [{ url: 'ftp://w.example', key: KEY }, 'url must be'],
    [{ url: 'w.example', key: KEY }, 'url must be'],
    [{ url: 'https://w.example', key: 'w.example+00000000+AA' }, 'key must be'],
    [{ url: 'https://w.example', key: KEY.replace('w.example', 'v.example') }, 'key must be'],
  ])('%j is refused', (options, message) => {
    expect(() => witness({ ...options, fetch })).toThrow(message);
  });
});

describe('checkpointObjectSink', () => {
  const record = (atSequence: number, letter = 'a'): CheckpointRecord => ({
    ...{ checkpoint: `ckp_${atSequence}`, atSequence, merkleRoot: 'b'.repeat(64), signature: `${'A'.repeat(86)}==` },
    hash: letter.repeat(64),
    note,
  });
  const store = () => {
    const objects = new Map<string, string>();
    const port: CheckpointObjects = {
      async putIfAbsent(key, text) {
        if (objects.has(key)) return false;
        objects.set(key, text);
        return true;
      },
      async first(prefix) {
        const key = [...objects.keys()].filter((one) => one.startsWith(prefix)).toSorted()[0];
        return key === undefined ? undefined : { key, text: objects.get(key) ?? '' };
      },
    };
    return { objects, sink: checkpointObjectSink(port, 'audit/') };
  };

  test('the newest checkpoint is the first of a listing, and nothing is replaced', async () => {
    const { objects, sink } = store();
    expect(await sink.last()).toBeUndefined();
    for (const at of [9, 10, 99, 100, 1000]) await sink.append(record(at));
    await sink.append(record(1000));
    expect(await sink.last()).toEqual(record(1000));
    expect(objects.size).toBe(5);
    await expect(sink.append(record(100))).rejects.toThrow('is behind the last one');
    await expect(sink.append(record(1000, 'c'))).rejects.toThrow('is behind the last one');
    expect(await sink.last()).toEqual(record(1000));
  });

  test.each(['', '[]', '{"checkpoint":1}', 'null'])('an object with %j is refused', async (text) => {
    const { objects, sink } = store();
    objects.set('audit/0.json', text);
    await expect(sink.last()).rejects.toThrow('is no checkpoint');
    await expect(sink.append(record(1))).rejects.toThrow('is no checkpoint');
  });
});
