import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyConsistency } from '@svc/auth/audit-tree';

export type TestWitness = Awaited<ReturnType<typeof startWitness>>;

/** Starts a witness of transparency logs that trusts every log, as C2SP tlog-witness describes one. */
export async function startWitness() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const name = 'witness.example/w1';
  const id = createHash('sha256').update(`${name}\n`).update(Buffer.of(4)).update(raw).digest().subarray(0, 4);
  let last = { treeSize: 0, rootHash: '' };
  let isAway = false;
  const requests: string[] = [];

  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push(body);
    if (isAway) return void response.writeHead(503).end();
    const [head = '', ...rest] = body.split('\n\n');
    const [old = '', ...lines] = head.split('\n');
    const [text = ''] = rest;
    const [, size, root = ''] = text.split('\n');
    const next = { treeSize: Number(size), rootHash: Buffer.from(root, 'base64').toString('hex') };
    if (old !== `old ${last.treeSize}`)
      return void response.writeHead(409, { 'content-type': 'text/x.tlog.size' }).end(`${last.treeSize}\n`);
    const proof = lines.map((line) => Buffer.from(line, 'base64').toString('hex'));
    const isSame = next.treeSize === last.treeSize && last.treeSize > 0;
    if (isSame && next.rootHash !== last.rootHash) return void response.writeHead(409).end(`${last.treeSize}\n`);
    const first = last.treeSize === 0 ? { treeSize: 0, rootHash: next.rootHash } : last;
    if (!isSame && !verifyConsistency({ first, second: next, proof })) return void response.writeHead(422).end();
    last = next;
    const time = 1_800_000_000;
    const stamp = Buffer.alloc(8);
    stamp.writeBigUInt64BE(BigInt(time));
    const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${time}\n${text}\n`), privateKey);
    response.end(`\u2014 ${name} ${Buffer.concat([id, stamp, signature]).toString('base64')}\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    port,
    url: `http://127.0.0.1:${port}`,
    key: `${name}+${id.toString('hex')}+${Buffer.concat([Buffer.of(4), raw]).toString('base64')}`,
    requests,
    last: () => last,
    /** Answers every request with 503 from now on, or no longer. */
    away(away: boolean) {
      isAway = away;
    },
    /** Returns whether a note has a valid cosignature. */
    hasCosigned(note: string): boolean {
      const line = note.split('\n').find((one) => one.startsWith(`\u2014 ${name} `));
      const bytes = Buffer.from(line?.split(' ').at(-1) ?? '', 'base64');
      const text = note.slice(0, note.lastIndexOf('\n\n') + 1);
      const message = Buffer.from(`cosignature/v1\ntime ${bytes.readBigUInt64BE(4)}\n${text}`);
      const key = createPublicKey({
        key: publicKey.export({ type: 'spki', format: 'der' }),
        type: 'spki',
        format: 'der',
      });
      return verify(null, message, key, bytes.subarray(12));
    },
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
