import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { AUTH_ERROR_STATUS, REFUSAL_REASONS } from '@svc/auth';
import { hashApiKey } from '@svc/auth/api-key';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { svcAuth } from '../src/cli/svc-auth-command.ts';
import { LANE_CHECKS, REMEDIES } from '../src/explain/checks.ts';
import { proofMaker } from './proofs.ts';
import { keySetOf, signer } from './tokens.ts';

const NOW = Date.UTC(2026, 5, 1);
const SECONDS = NOW / 1000;
const ORIGIN = 'https://svc.example.com';
const ISSUER = 'https://idp.example.com';
const CLUSTER = 'https://cluster.example.com';
const KEYS: Readonly<Record<string, string>> = Object.fromEntries(
  ['operator', 'expired', 'revoked', 'stranger'].map((name) => [name, `${name}-key-of-this-test-0123456789`]),
);

const idp = await signer('ES256');
const stranger = await signer('ES256');
const client = await proofMaker();
let folder: string;
let config: string;

/** One credential of a vector. Times are seconds from the time of the judgement. */
interface Sent {
  readonly key?: string;
  readonly raw?: string;
  readonly token?: Readonly<Record<string, unknown>>;
  readonly workload?: Readonly<Record<string, unknown>>;
  readonly header?: object;
  readonly signer?: 'stranger';
  readonly proof?: { readonly htu?: string; readonly iat?: number };
  readonly hops?: readonly { readonly act?: string; readonly exp?: number; readonly scope?: string }[];
}

interface Vector {
  readonly code: string;
  readonly status: number;
  readonly reason: string;
  readonly lane: string;
  readonly step: string;
  readonly note?: string;
  readonly args?: readonly string[];
  readonly acceptedArgs?: readonly string[];
  readonly refused: Sent;
  readonly accepted: Sent;
}

const VECTORS: readonly Vector[] = JSON.parse(readFileSync(new URL('./explain-vectors.json', import.meta.url), 'utf8'));

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-explain-'));
  config = join(folder, 'lanes.json');
  writeFileSync(join(folder, 'keys.json'), JSON.stringify(keySetOf(idp)));
  const grants = { tenant: 'acme', workspaces: ['*'], scopes: ['runs:read'] };
  const record = (name: string) => ({
    id: `key_${name}`,
    hash: hashApiKey(KEYS[name] ?? ''),
    principal: 'p_1',
    ...grants,
  });
  const lanes = {
    origin: ORIGIN,
    apiKeys: [
      record('operator'),
      { ...record('expired'), expiresAt: '2026-06-01T00:00:00Z' },
      { ...record('revoked'), revokedAt: '2026-06-01T00:00:00Z' },
    ],
    issuers: [
      { issuer: ISSUER, audience: 'svc', profile: 'user', jwksFile: 'keys.json', tenants: ['acme'] },
      { issuer: 'http://127.0.0.1:9', audience: 'svc', profile: 'user', tenants: ['other'] },
    ],
    workloads: {
      audience: 'svc',
      trustDomains: [{ name: 'acme.example', jwksFile: 'keys.json' }],
      issuers: [{ scheme: 'cloud-subject', issuer: CLUSTER, jwksFile: 'keys.json' }],
      bindings: [
        { issuer: CLUSTER, subject: 'deploy', principal: 'p_2', ...grants },
        { issuer: CLUSTER, subject: 'delegator', principal: 'p_3', ...grants },
      ],
      delegation: { maxChainDepth: 2, issuers: [{ issuer: CLUSTER, jwksFile: 'keys.json' }] },
    },
  };
  writeFileSync(config, JSON.stringify(lanes));
});
afterAll(() => rmSync(folder, { recursive: true }));

const claims = { aud: 'svc', iat: -10, exp: 600 };

function timed(claimed: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const at = (name: string) => (typeof claimed[name] === 'number' ? { [name]: SECONDS + Number(claimed[name]) } : {});
  return { ...claimed, ...at('iat'), ...at('exp') };
}

async function delegationOf(hops: NonNullable<Sent['hops']>): Promise<string> {
  let act: object | undefined;
  let prf: string | undefined;
  for (const { act: sub = 'deploy', exp = 600, scope = 'runs:read' } of hops) {
    act = { sub, ...(act !== undefined && { act }) };
    const hop = { iss: CLUSTER, sub: 'delegator', aud: 'svc', scope, act, exp: SECONDS + exp, iat: SECONDS - 10 };
    prf = await idp.sign({ ...hop, ...(prf !== undefined && { prf }) }, { typ: 'delegation+jwt' });
  }
  return prf ?? '';
}

/** Returns the head of a vector, and the texts that no output may contain. */
async function headOf(sent: Sent): Promise<{ readonly lines: readonly string[]; readonly secrets: readonly string[] }> {
  const lines = ['GET /v1/runs?limit=1 HTTP/1.1', 'Host: 127.0.0.1:8787', 'Accept: */*'];
  if (sent.raw !== undefined) return { lines: [...lines, `Authorization: ${sent.raw}`], secrets: [sent.raw.slice(6)] };
  if (sent.key !== undefined) {
    const key = KEYS[sent.key] ?? '';
    return { lines: [...lines, `authorization: Bearer ${key}`], secrets: [key, hashApiKey(key)] };
  }
  const signedBy = sent.signer === 'stranger' ? stranger : idp;
  const claimed = sent.workload ?? sent.token;
  if (claimed === undefined) return { lines, secrets: [] };
  const own =
    sent.workload === undefined
      ? { iss: ISSUER, sub: 'u_ada', svc_tenant: 'acme', svc_workspaces: ['*'] }
      : { iss: CLUSTER, sub: 'deploy' };
  const confirmed = 'cnf' in claimed ? { cnf: { jkt: client.thumbprint } } : {};
  const token = await signedBy.sign(timed({ ...own, ...claims, ...claimed, ...confirmed }), {
    typ: 'JWT',
    ...sent.header,
  });
  const { htu = `${ORIGIN}/v1/runs`, iat = 0 } = sent.proof ?? {};
  const proof = sent.proof && (await client.proof({ htm: 'GET', htu, token, iat: SECONDS + iat }));
  const delegation = sent.hops && (await delegationOf(sent.hops));
  return {
    lines: [
      ...lines,
      `Authorization: ${proof === undefined ? 'Bearer' : 'DPoP'} ${token}`,
      ...(proof === undefined ? [] : [`DPoP: ${proof}`]),
      ...(delegation === undefined ? [] : [`SVC-Delegation: ${delegation}`]),
    ],
    secrets: [token, proof, delegation].flatMap((text) => text?.split('.') ?? []).filter((text) => text.length > 20),
  };
}

const wire = (lines: readonly string[]) => `${lines.join('\r\n')}\r\n\r\n{"body":1}`;
const curl = (lines: readonly string[]) =>
  [
    '*   Trying 127.0.0.1:8787...',
    '* Connected to 127.0.0.1 (127.0.0.1) port 8787',
    ...lines.map((line) => `> ${line}`),
    '> ',
    '* Request completely sent off',
    '< HTTP/1.1 401 Unauthorized',
    '< content-type: application/json',
    '< ',
    '{"error":"unauthenticated"}',
  ].join('\n');

function collecting(): { readonly stream: Writable; text(): string } {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return { stream, text: () => text };
}

async function explained(capture: string, args: readonly string[] = ['--config', config]) {
  const [stdout, stderr] = [collecting(), collecting()];
  const terminal = { stdin: Readable.from([Buffer.from(capture)]), stdout: stdout.stream, stderr: stderr.stream };
  const code = await svcAuth(['explain', ...args], { ...terminal, now: () => NOW });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

describe('svc-auth explain', () => {
  test.each(VECTORS)('explains $code ($reason) of the lane $lane, and its accepted twin', async (vector) => {
    const twin = await headOf(vector.accepted);
    const accepted = await explained(wire(twin.lines), ['--config', config, ...(vector.acceptedArgs ?? [])]);
    expect([accepted.code, accepted.stderr, accepted.stdout]).toEqual([
      0,
      '',
      expect.stringContaining('\nAccepted.\n'),
    ]);
    const { lines, secrets } = await headOf(vector.refused);
    const args = ['--config', config, ...(vector.args ?? [])];
    const [onWire, ofCurl] = [await explained(wire(lines), args), await explained(curl(lines), args)];
    expect(ofCurl).toEqual(onWire);
    const { code, status, reason, step } = vector;
    expect([onWire.code, onWire.stderr]).toEqual([1, '']);
    expect(onWire.stdout).toContain(`Refused: ${status} ${code} (${reason}).`);
    const { stdout } = await explained(wire(lines), [...args, '--json']);
    const found = JSON.parse(stdout);
    expect(found).toMatchObject({ accepted: false, code, status, reason, lane: vector.lane });
    const failed = found.steps.filter(({ outcome }: { outcome: string }) => outcome === 'failed');
    expect(failed).toEqual([
      {
        name: step,
        outcome: 'failed',
        note: expect.stringContaining(vector.note ?? '.'),
        remedy: expect.stringMatching(/\.$/),
      },
    ]);
    const outcomes = found.steps.map(({ outcome }: { outcome: string }) => outcome);
    expect(outcomes.join(' ')).toMatch(/^(passed )*failed( not reached)*$/);
    for (const secret of [...secrets, ...twin.secrets]) {
      for (const output of [onWire.stdout, stdout, accepted.stdout]) expect(output).not.toContain(secret);
    }
    expect(onWire.stdout, 'a subject may be a person').not.toContain('u_ada');
  });

  test('has a vector for every code, but the limits, which it does not judge', () => {
    const codes = new Set([...VECTORS.map(({ code }) => code), 'rate_limited']);
    expect([...codes].sort()).toEqual(Object.keys(AUTH_ERROR_STATUS).sort());
  });

  test.each([
    [
      'active',
      { active: true, aud: 'svc', sub: 'u_ada', exp: SECONDS + 60, svc_tenant: 'acme', svc_workspaces: ['*'] },
      0,
    ],
    ['for another host', { active: true, aud: 'other', sub: 'u_ada', exp: SECONDS + 60 }, 1],
    ['not active', { active: false }, 1],
  ])('explains an opaque token that is %s, by the answer in a file', async (title, answer, code) => {
    writeFileSync(join(folder, 'answer.json'), JSON.stringify(answer));
    const introspection = { issuer: ISSUER, endpoint: `${ISSUER}/introspect`, audience: 'svc', clientId: 'svc' };
    const file = join(folder, 'opaque.json');
    writeFileSync(file, JSON.stringify({ introspection: { ...introspection, answerFile: 'answer.json' } }));
    const opaque = 'an-opaque-token-of-this-test-0123456789';
    const capture = ['GET / HTTP/1.1', `Authorization: Bearer ${opaque}`, '', ''].join('\n');
    const result = await explained(capture, ['--config', file]);
    expect(result.code).toBe(code);
    expect(result.stdout).toContain('The lane introspection decides.');
    expect(result.stdout).toMatch(
      title === 'not active' ? /✗ activity/ : title === 'active' ? /✓ activity/ : /✗ audience/,
    );
    expect(result.stdout + result.stderr).not.toContain(opaque);
  });

  test('has a check and a remedy for every reason of a lane', () => {
    expect(Object.keys(REMEDIES).sort()).toEqual([...REFUSAL_REASONS].sort());
    const checked = new Set(Object.values(LANE_CHECKS).flatMap((checks) => checks.flatMap(({ reasons }) => reasons)));
    const elsewhere = ['absent', 'malformed', 'scope', 'sign-in', 'rate-limit', 'budget', 'internal'];
    expect([...checked, ...elsewhere].sort()).toEqual([...REFUSAL_REASONS].sort());
  });

  test('judges at a given time', async () => {
    const { lines } = await headOf({ token: {} });
    const at = async (...time: string[]) => (await explained(wire(lines), ['--config', config, ...time])).code;
    expect(await at('--at', '2026-06-01T00:10:59Z')).toBe(0);
    expect(await at('--at', '2026-06-01T00:11:01Z')).toBe(1);
    expect(await at('--at', String(SECONDS))).toBe(0);
  });

  test.each<[string, string, string[], RegExp]>([
    ['no configuration', 'GET / HTTP/1.1\n', [], /--config: is missing/],
    ['a file that is away', 'GET / HTTP/1.1\n', ['--config', '/nothing/here'], /cannot be read/],
    ['a capture that is away', '', ['--config', 'CONFIG', '/nothing/here'], /CAPTURE: cannot be read/],
    ['two captures', '', ['--config', 'CONFIG', 'a', 'b'], /CAPTURE: must be given once/],
    ['no request', 'secret-of-the-reader', ['--config', 'CONFIG'], /CAPTURE: does not begin with a request line/],
    ['an empty capture', '', ['--config', 'CONFIG'], /CAPTURE: does not begin with a request line/],
    [
      'a broken line',
      'GET / HTTP/1.1\nsecret-of-the-reader\n',
      ['--config', 'CONFIG'],
      /CAPTURE: line 2 is not a header/,
    ],
    ['a folded line', 'GET / HTTP/1.1\nA: b\n secret-of-the-reader\n', ['--config', 'CONFIG'], /CAPTURE: line 3/],
    ['two requests', '> GET / HTTP/1.1\n> \n> GET / HTTP/1.1\n> ', ['--config', 'CONFIG'], /more than one request/],
    ['a long capture', `GET / HTTP/1.1\nA: ${'x'.repeat(300_000)}`, ['--config', 'CONFIG'], /longer than 256 KiB/],
    ['a bad time', 'GET / HTTP/1.1\n', ['--config', 'CONFIG', '--at', 'yesterday'], /--at: must be a time/],
    ['an unknown option', 'GET / HTTP/1.1\n', ['--config', 'CONFIG', '--verbose'], /--verbose/],
  ])('ends with 2 for %s, and quotes nothing of it', async (_title, capture, args, message) => {
    const given = args.map((arg) => (arg === 'CONFIG' ? config : arg));
    const { code, stdout, stderr } = await explained(capture, given);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('secret-of-the-reader');
  });

  test.each<[string, unknown, RegExp]>([
    ['no JSON', '{', /is not JSON/],
    ['a key in place of its hash', { apiKeys: [{ id: 'k', key: 'secret-of-the-reader' }] }, /apiKeys\.0/],
    ['an unknown field', { apikeys: [] }, /the file: /],
    ['an issuer without keys', { issuers: [{ issuer: 'ftp://x', audience: 'a', profile: 'user' }] }, /issuers\[0\]/],
    [
      'a key set that is away',
      { issuers: [{ issuer: ISSUER, audience: 'a', profile: 'user', jwksFile: 'x' }] },
      /jwksFile/,
    ],
    [
      'an empty key set',
      { issuers: [{ issuer: ISSUER, audience: 'a', profile: 'user', jwksFile: 'bad.json' }] },
      /jwksFile/,
    ],
  ])('ends with 2 for a configuration with %s', async (_title, content, message) => {
    const file = join(folder, 'bad.json');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    const { code, stderr } = await explained('GET / HTTP/1.1\n\n', ['--config', file]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    expect(stderr).not.toContain('secret-of-the-reader');
  });

  test('shows texts of a token escaped and cut', async () => {
    const { lines } = await headOf({ token: { aud: `\u001b[31m\n${'x'.repeat(500)}` } });
    const { stdout } = await explained(wire(lines));
    expect(stdout).toContain('Refused: 401 audience_mismatch');
    expect(stdout.includes('\u001b')).toBe(false);
    expect(stdout).not.toMatch(/x{200}/);
  });

  test('runs as a command, reads a file, and loads nothing for its help', () => {
    const main = fileURLToPath(new URL('../dist/for-node/cli/svc-auth.js', import.meta.url));
    const run = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
    const capture = join(folder, 'capture.txt');
    writeFileSync(capture, wire(['GET / HTTP/1.1', `Authorization: Bearer ${KEYS.operator}`]));
    const { status, stdout } = run('explain', '--config', config, capture);
    expect([status, stdout]).toEqual([0, expect.stringContaining('✓ key          the record key_operator')]);
    expect(run('explain', '--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('Exit code:') });
    expect(run('nothing').status).toBe(2);
    expect(execFileSync(process.execPath, [main, '--version'], { encoding: 'utf8' })).toMatch(/^svc-auth \d/);
  });
});
