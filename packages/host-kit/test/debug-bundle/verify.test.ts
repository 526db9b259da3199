import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { canonicalJson, ed25519Signer } from '@svc/auth/audit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { svcDebugBundle } from '../../src/cli/command.ts';
import { canonicalOf, MOST_BUNDLE_BYTES, type SigningKey, type UnsignedBundle } from '../../src/debug-bundle/format.ts';
import { verifyDebugBundle } from '../../src/debug-bundle/index.ts';
import { type BundleSigner, bundleSigner } from '../../src/debug-bundle/sign.ts';

const UNSIGNED: UnsignedBundle = {
  ...{ bundleVersion: '2', kind: 'debug', bundleId: 'bdl_1', createdAt: '2026-11-22T12:00:00.000Z' },
  ...{ host: { name: 'h', version: '1.0.0', vendor: 'v' }, major: 2, run: { runId: 'acme/run_1', status: 'failed' } },
  ...{ log: { events: [{ type: 'run.started', text: 'é' }], isWhole: true }, omitted: [], redactions: 0 },
};

let signer: BundleSigner;
let stranger: BundleSigner;
let bundle: Uint8Array;
let keys: readonly SigningKey[];
const folder = mkdtempSync(join(tmpdir(), 'svc-bundle-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(async () => {
  signer = await newSigner();
  stranger = await newSigner();
  bundle = await signer.sign(UNSIGNED);
  keys = [stranger.key, signer.key];
});

async function newSigner(keyId?: string): Promise<BundleSigner> {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return bundleSigner(await ed25519Signer(pem), keyId);
}

async function faultOf(bytes: Uint8Array, trusted = keys): Promise<string> {
  const verdict = await verifyDebugBundle(bytes, trusted);
  return verdict.ok ? 'none' : verdict.fault;
}

/** The bundle with other members, signed as the host does or with its old signature. */
const changed = (members: object) => {
  const parsed = JSON.parse(Buffer.from(bundle).toString('utf8'));
  return Buffer.from(canonicalJson(canonicalOf({ ...parsed, ...members })));
};

describe('verifyDebugBundle', () => {
  test('accepts a bundle as its host signed it, and returns it', async () => {
    const verdict = await verifyDebugBundle(bundle, keys);
    expect(verdict).toMatchObject({ ok: true, bundle: { ...UNSIGNED, signature: { keyId: signer.key.keyId } } });
  });

  test('rejects a bundle in which any single byte was altered, removed or added', async () => {
    for (let index = 0; index < bundle.length; index++) {
      const altered = Buffer.from(bundle);
      altered[index] = (altered[index] ?? 0) ^ 1;
      expect(await faultOf(altered), `byte ${index}`).not.toBe('none');
      const shorter = Buffer.concat([bundle.subarray(0, index), bundle.subarray(index + 1)]);
      expect(await faultOf(shorter), `without byte ${index}`).not.toBe('none');
    }
    expect(await faultOf(Buffer.concat([bundle, Buffer.from('\n')]))).toBe('malformed');
    expect(await faultOf(Buffer.concat([Buffer.from('\ufeff'), bundle]))).toBe('malformed');
  });

  test('rejects every bundle that is cut off', async () => {
    for (let length = 0; length < bundle.length; length++)
      expect(await faultOf(bundle.subarray(0, length))).toBe('malformed');
  });

  test.each([
    ['another bundleVersion', { bundleVersion: '3' }, 'unsupported-version'],
    ['a bundleVersion that is a number', { bundleVersion: 2 }, 'unsupported-version'],
    ['another kind', { kind: 'export' }, 'unsupported-version'],
    ['another run', { run: {} }, 'signature-invalid'],
    ['a further member', { note: 'x' }, 'signature-invalid'],
    ['a section of another kind', { run: [] }, 'malformed'],
    ['no signature', { signature: null }, 'malformed'],
    ['another algorithm', { signature: { alg: 'none', keyId: 'k', value: '' } }, 'malformed'],
  ])('rejects a bundle with %s', async (_, members, fault) => {
    expect(await faultOf(changed(members))).toBe(fault);
  });

  test('rejects a formatted bundle, and one with a member twice', async () => {
    const text = Buffer.from(bundle).toString('utf8');
    expect(await faultOf(Buffer.from(JSON.stringify(JSON.parse(text), null, 2)))).toBe('malformed');
    expect(await faultOf(Buffer.from(text.replace('{', '{"kind":"debug",')))).toBe('malformed');
  });

  test('rejects a key that is not trusted, and another key under the same id', async () => {
    expect(await faultOf(bundle, [])).toBe('unknown-key');
    expect(await faultOf(bundle, [stranger.key])).toBe('unknown-key');
    expect(await faultOf(bundle, [{ ...stranger.key, keyId: signer.key.keyId }])).toBe('signature-invalid');
    expect(await faultOf(bundle, [{ ...signer.key, publicKey: 'AAAA' }])).toBe('signature-invalid');
  });

  test('rejects a signature over the same bytes without the head of debug bundles', async () => {
    const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const raw = await ed25519Signer(pem);
    const { key } = bundleSigner(raw);
    const value = Buffer.from(await raw.sign(Buffer.from(canonicalJson(canonicalOf(UNSIGNED))))).toString('base64url');
    const other = changed({ signature: { alg: 'ed25519', keyId: key.keyId, value } });
    expect(await faultOf(other, [key])).toBe('signature-invalid');
  });

  test('accepts a bundle that was made before its key was retired, and rejects one that was made later', async () => {
    expect(await faultOf(bundle, [{ ...signer.key, retiredAt: '2026-11-22T12:00:00.001Z' }])).toBe('none');
    expect(await faultOf(bundle, [{ ...signer.key, retiredAt: '2026-11-22T12:00:00.000Z' }])).toBe('retired-key');
    expect(await faultOf(bundle, [{ ...signer.key, retiredAt: 'never' }])).toBe('retired-key');
  });

  test('rejects a bundle that is too large or too deep without reading all of it', async () => {
    expect(await faultOf(new Uint8Array(MOST_BUNDLE_BYTES + 1))).toBe('too-large');
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const text = Buffer.from(bundle).toString('utf8').replace('"redactions":0', `"redactions":0,"s":${deep}`);
    expect(await faultOf(Buffer.from(text))).toBe('malformed');
  });
});

describe('svc-debug-bundle verify', () => {
  async function run(...args: string[]) {
    const written = { out: '', err: '' };
    const into = (name: keyof typeof written) =>
      new Writable({
        write(chunk, _encoding, done) {
          written[name] += chunk;
          done();
        },
      });
    const asked: string[] = [];
    const fetch = async (request: Request) => {
      asked.push(request.url);
      return Response.json({ signingKeys: keys.map((key) => ({ ...key, use: 'certification-bundle' })) });
    };
    const code = await svcDebugBundle(args, { stdout: into('out'), stderr: into('err'), fetch });
    return { code, ...written, asked };
  }
  const file = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  test('accepts a bundle with the keys of a stored document, and with those of the host', async () => {
    const path = file('bundle.json', bundle);
    for (const content of [{ signingKeys: keys }, keys]) {
      const { code, out } = await run('verify', path, '--keys', file('keys.json', JSON.stringify(content)));
      expect([code, JSON.parse(out)]).toMatchObject([0, { verified: true, runId: 'acme/run_1', events: 1 }]);
    }
    const { code, asked } = await run('verify', path, '--host', 'https://svc.example.com/');
    expect([code, asked]).toEqual([0, ['https://svc.example.com/.well-known/svc']]);
  });

  test('answers 1 for a changed bundle, with the fault', async () => {
    const path = file('changed.json', changed({ redactions: 1 }));
    const { code, err } = await run('verify', path, '--host', 'https://svc.example.com');
    expect([code, err]).toEqual([1, expect.stringMatching(/^signature-invalid: The bundle /)]);
  });

  test.each([
    [[], 'Usage'],
    [['read', 'x', '--host', 'https://h'], 'verify FILE'],
    [['verify', 'x'], '--host or --keys'],
    [['verify', 'x', '--key', 'y'], '--key'],
    [['verify', '/nowhere/x', '--host', 'https://h'], 'cannot be read'],
    [['verify', 'x', '--host', 'h'], 'not a URL'],
    [['verify', 'x', '--keys', '/nowhere/k'], 'cannot be read'],
  ])('answers 2 for %j', async (args, told) => {
    const { code, err } = await run(...args);
    expect([code, err]).toEqual([2, expect.stringContaining(told)]);
  });

  test('answers 2 for a document without keys', async () => {
    for (const content of ['{}', 'no json', '{"signingKeys":1}']) {
      const path = file('no-keys.json', content);
      expect((await run('verify', file('b.json', bundle), '--keys', path)).err).toContain('no signingKeys');
    }
  });
});
