import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { auditLines, type CheckpointRecord, ed25519Signer, memoryAuditLog } from '@svc/auth/audit';
import { afterAll, describe, expect, test } from 'vitest';
import { svcAudit } from '../src/cli/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-audit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
function file(lines: readonly string[] | string): string {
  const path = join(folder, String(++files));
  writeFileSync(path, typeof lines === 'string' ? lines : lines.map((line) => `${line}\n`).join(''));
  return path;
}

const newSigner = () =>
  ed25519Signer(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
const [signer, stranger] = [await newSigner(), await newSigner()];

/** Makes a log with a checkpoint after every fifth entry. Returns its lines, and the copies of its checkpoints. */
async function exported(length: number) {
  const log = memoryAuditLog();
  const copies: CheckpointRecord[] = [];
  for (let n = 1; n <= length; n++) {
    const occurredAt = new Date(Date.UTC(2026, 5, 1) + n).toISOString();
    const { hash } = log.append({ action: 'run.create', actor: `p_${n}`, target: null, occurredAt, details: { n } });
    const checkpoint = n % 5 === 0 ? await log.seal(signer, () => `cp_${n}`) : undefined;
    if (checkpoint !== undefined) copies.push({ ...checkpoint, hash });
  }
  const lines: string[] = [];
  for await (const line of auditLines(log)) lines.push(line);
  return { lines, copies, head: await log.head() };
}

async function run(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await svcAudit(args, { stdout, stderr });
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}

const verify = (path: string, ...args: readonly string[]) =>
  run('verify', path, '--public-key', signer.publicKey, ...args);

const { lines, copies, head } = await exported(12);
const sink = () => file(copies.map((copy) => JSON.stringify(copy)));
const [entry3, entry12] = [lines[2] ?? '', lines.at(-1) ?? ''];

describe('svc-audit verify', () => {
  test('verifies an exported log, and says that its end is not verified', async () => {
    expect(await verify(file(lines))).toEqual({
      code: 0,
      err: '',
      out:
        'The log ends at entry 12. It has 2 checkpoints, the last one at entry 10.\n' +
        '✓ Every entry and every checkpoint is valid.\n' +
        '· The end of the log is not verified. Pass --checkpoints or --expected.\n',
    });
  });

  test('verifies a log against the file of its sink, and against a head', async () => {
    const path = file(lines);
    const contains = '✓ The log contains the expected entry';
    expect(await verify(path, '--checkpoints', sink())).toMatchObject({
      code: 0,
      out: expect.stringContaining(contains),
    });
    expect(await verify(path, '--expected', `12:${head?.hash}`)).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${contains} 12.`),
    });
    expect(
      await verify(path, '--checkpoints', file(`${copies.map((copy) => JSON.stringify(copy)).join('\n')}\n{"chec`)),
    ).toMatchObject({ code: 0 });
  });

  test('names the entries that a log has lost since the last checkpoint of its sink', async () => {
    const cut = file((await exported(7)).lines);
    expect(await verify(cut)).toMatchObject({ code: 0 });
    expect(await verify(cut, '--checkpoints', sink())).toMatchObject({
      code: 1,
      out: expect.stringContaining('Entries 8 to 10 are missing: the log ends at entry 7, before the expected head.'),
    });
    expect(await verify(file(''), '--checkpoints', sink())).toMatchObject({
      code: 1,
      out: expect.stringContaining('Entries 1 to 10 are missing: the log is empty'),
    });
  });

  test.each<[string, readonly string[], string]>([
    ['a changed entry', lines.with(2, entry3.replace('p_3', 'p_4')), 'hash-mismatch: entry 3'],
    ['a removed entry', lines.toSpliced(2, 1), 'missing-entry: entry 3'],
    ['a repeated entry', lines.toSpliced(2, 0, entry3), 'chain-break: entry 3'],
    ['a moved entry', [entry12, ...lines.slice(0, -1)], 'chain-break: entry 1\n'],
    ['a checkpoint without its entries', lines.slice(0, 5).concat(lines.slice(10, -2)), 'missing-entry: entry 6'],
  ])('detects and names %s', async (_name, changed, anomaly) => {
    expect(await verify(file(changed))).toMatchObject({ code: 1, out: expect.stringContaining(`✗ ${anomaly}`) });
  });

  test('detects a log that another key has signed', async () => {
    const signed = await run('verify', file(lines), '--public-key', stranger.publicKey);
    expect(signed).toMatchObject({ code: 1, out: expect.stringContaining('✗ signature-invalid: checkpoint "cp_5"') });
    const both = ['--public-key', stranger.publicKey, '--public-key', signer.publicKey];
    expect(await run('verify', file(lines), ...both)).toMatchObject({ code: 0 });
  });

  test('prints the result as JSON', async () => {
    const { code, out } = await verify(file(lines), '--json');
    expect([code, JSON.parse(out)]).toMatchObject([0, { fromSeq: 1, toSeq: 12, chainValid: true, anomalies: [] }]);
  });

  const path = file(lines);
  test.each<[string, readonly string[], string]>([
    ['no file', ['--public-key', signer.publicKey], 'FILE: must be given once.'],
    ['two files', [path, path, '--public-key', signer.publicKey], 'FILE: must be given once.'],
    ['no key', [path], '--public-key: must be a checkpointPublicKey.'],
    ['a key that is none', [path, '--public-key', 'x'], '--public-key: must be a checkpointPublicKey.'],
    ['an unknown option', [path, '--key', 'x'], "Unknown option '--key'"],
    ['a missing file', [join(folder, 'none'), '--public-key', signer.publicKey], 'FILE: cannot be read (ENOENT).'],
    ['an empty file', [file(''), '--public-key', signer.publicKey], 'FILE: holds no entry.'],
    [
      'a line of something else',
      [file([...lines, '{"a":1}']), '--public-key', signer.publicKey],
      'FILE: line 15 is not an entry or a checkpoint.',
    ],
    ['text', [file('hello'), '--public-key', signer.publicKey], 'FILE: line 1 is not an entry or a checkpoint.'],
    [
      'an endless line',
      [file('x'.repeat(3_000_000)), '--public-key', signer.publicKey],
      'FILE: line 1 is longer than 1 MiB.',
    ],
    [
      'a head that is none',
      [path, '--public-key', signer.publicKey, '--expected', '12'],
      '--expected: must be a sequence number and a hash.',
    ],
    [
      'two ends',
      [path, '--public-key', signer.publicKey, '--expected', `12:${head?.hash}`, '--checkpoints', sink()],
      '--checkpoints, --expected: exclude each other.',
    ],
    [
      'a sink without checkpoints',
      [path, '--public-key', signer.publicKey, '--checkpoints', file('\n')],
      '--checkpoints: the file holds no checkpoint.',
    ],
    [
      'the sink of another signer',
      [path, '--public-key', stranger.publicKey, '--checkpoints', sink()],
      '--checkpoints: no public key has signed the last checkpoint, at entry 10.',
    ],
  ])('rejects %s with exit code 2', async (_name, args, message) => {
    expect(await run('verify', ...args)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(message) });
  });
});

describe('svc-audit', () => {
  test.each<[readonly string[], number, string]>([
    [['--help'], 0, 'Usage: svc-audit COMMAND'],
    [['verify', '--help'], 0, 'Usage: svc-audit verify FILE'],
    [['--version'], 0, 'svc-audit '],
  ])('%j prints', async (args, code, text) => {
    expect(await run(...args)).toMatchObject({ code, err: '', out: expect.stringContaining(text) });
  });

  test.each([[[]], [['seal']]])('%j is wrong usage', async (args: readonly string[]) => {
    expect(await run(...args)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Usage: svc-audit') });
  });

  test('runs as the command of the package', () => {
    const main = fileURLToPath(new URL('../dist/for-node/cli/main.js', import.meta.url));
    const args = [main, 'verify', file(lines), '--public-key', signer.publicKey];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('✓ Every entry and every checkpoint is valid.');
  });
});

describe('svc-audit verify of a log whose beginning was removed', () => {
  /** Lines of a log that starts with its checkpoint at entry 5. */
  async function cut() {
    const log = memoryAuditLog();
    for (let n = 1; n <= 12; n++) {
      const occurredAt = new Date(Date.UTC(2026, 5, 1) + n).toISOString();
      log.append({ action: 'run.create', actor: `p_${n}`, target: null, occurredAt, details: { n } });
      if (n % 5 === 0) await log.seal(signer, () => `cp_${n}`);
    }
    const [start] = await log.checkpoints(5, 5);
    const found: string[] = [];
    for await (const line of auditLines({ ...log, start: async () => start })) found.push(line);
    return found;
  }

  test('verifies the rest, and that the sink has recorded the start', async () => {
    const path = file(await cut());
    const known = await verify(path, '--checkpoints', sink());
    expect(known.out).toContain('✓ The log starts with checkpoint "cp_5" at entry 5, which its sink has recorded.');
    expect(known.code).toBe(0);
    const alone = await verify(path);
    expect(alone.out).toContain('Pass --checkpoints to verify that its sink has recorded it.');
    expect(alone.code).toBe(0);
  });

  test.each([
    ['lacks the start', () => copies.filter(({ atSequence }) => atSequence !== 5)],
    [
      'has another entry there',
      () => copies.map((copy) => (copy.atSequence === 5 ? { ...copy, hash: 'a'.repeat(64) } : copy)),
    ],
  ])('fails when the sink %s', async (_what, recorded) => {
    const path = file(await cut());
    const { code, out } = await verify(path, '--checkpoints', file(recorded().map((copy) => JSON.stringify(copy))));
    expect(out).toContain('✗ The log starts with checkpoint "cp_5" at entry 5, which its sink has not recorded.');
    expect(code).toBe(1);
  });

  test('fails when the line of the start is missing, or its checkpoint was not signed by the host', async () => {
    const [first = '', ...others] = await cut();
    expect((await verify(file(others))).code).toBe(1);
    const forged = first.replace(/"signature":"..../, '"signature":"AAAA');
    expect((await verify(file([forged, ...others]))).out).toContain('signature-invalid: checkpoint "cp_5" at entry 5');
  });
});
