import { hash } from 'node:crypto';
import { createServer, type Server, request as send } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { authenticator, type Peer, type RequestHead } from '@svc/auth';
import { bearerLane, localKeys } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore } from '@svc/auth/dpop';
import { clientCertificates } from '@svc/auth/mtls';
import { peerOf } from '@svc/auth/node';
import { type WorkloadBinding, workloadLane } from '@svc/auth/workload';
import { mtlsSan, x509Svid } from '@svc/auth/workload/x509';
import {
  type CertificateRequest,
  ExtendedKeyUsageExtension,
  type Issued,
  issue,
  KeyUsageFlags,
} from '@svc/tools/certificates';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCertificate } from '../src/mtls/x509.ts';
import { proofMaker } from './proofs.ts';
import { keySetOf, type Signer, signer } from './tokens.ts';

const AGENT = 'spiffe://acme.example/agent';
const SERVER = '1.3.6.1.5.5.7.3.1';
const CLIENT = '1.3.6.1.5.5.7.3.2';
const CODE = '1.3.6.1.5.5.7.3.3';
const ANY = '2.5.29.37.0';
const now = Date.now;

const root = await issue('root', { isAuthority: true });
const intermediate = await issue('intermediate', { isAuthority: true }, root);
const otherRoot = await issue('other root', { isAuthority: true });
const agent = await issue('agent', { uris: [AGENT] }, intermediate);
const machine = await issue('machine', { dnsNames: ['Billing.acme.example'] }, root);
const serverCertificate = await issue('localhost', { dnsNames: ['localhost'] }, root);

const EMPTY_BLOCK = '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----';

const BINDING: WorkloadBinding = {
  principal: 'p_agent',
  tenant: 'acme',
  workspaces: 'all',
  scopes: ['runs:read'],
  mode: 'live',
};

const terminator = { isTrustedPeer: (address: string) => address === '10.0.0.1', header: 'x-forwarded-client-cert' };

function auth(certificateOf = clientCertificates(), intermediates: string[] = []) {
  const schemes = [
    x509Svid({
      certificateOf,
      trustDomains: [
        { name: 'acme.example', authorities: [root.pem], intermediates },
        { name: 'other.example', authorities: [otherRoot.der] },
      ],
    }),
    mtlsSan({ certificateOf, authorities: [root.pem], issuer: 'urn:acme:machines' }),
  ];
  const resolve = ({ subject }: { subject: string }) =>
    subject === AGENT || subject === 'billing.acme.example' ? BINDING : undefined;
  const senderConstraint = ['mtls'] as const;
  return authenticator({ lanes: [workloadLane({ schemes, audience: 'svc', resolve, senderConstraint, now })] });
}

/** Makes a peer that presented a certificate and the certificates above it. */
function from(leaf: Issued, issuers: readonly Issued[] = [], trusted = true): Peer {
  return {
    address: '192.0.2.1',
    certificate: () => ({ der: leaf.der, issuers: issuers.map(({ der }) => der), trusted }),
  };
}

const over = (peer: Peer | undefined, headers: Record<string, string> = {}): RequestHead => ({ headers, peer });

describe(covers('auth.workload.cryptographic-verification'), () => {
  test('authenticates an X.509-SVID as the workload that it names', async () => {
    expect(await auth().authenticate(over(from(agent, [intermediate])))).toMatchObject({
      kind: 'authenticated',
      principal: {
        id: 'p_agent',
        binding: 'mtls',
        workload: {
          audience: 'absent',
          issuerClass: 'spiffe',
          identity: {
            scheme: 'spiffe',
            subject: AGENT,
            issuer: 'spiffe://acme.example',
            keyBinding: { method: 'mtls', thumbprintRef: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
          },
        },
      },
    });
  });

  test('authenticates a certificate with one DNS name as the machine of that name', async () => {
    expect(await auth().authenticate(over(from(machine)))).toMatchObject({
      principal: { workload: { identity: { scheme: 'mtls-san', subject: 'billing.acme.example' } } },
    });
  });

  const hour = 3_600_000;
  const wrong: readonly [string, CertificateRequest, Issued?][] = [
    ['an authority of another trust domain', { uris: [AGENT] }, otherRoot],
    ['an ID of another trust domain', { uris: ['spiffe://other.example/agent'] }],
    ['an ID of no trust domain of ours', { uris: ['spiffe://evil.example/agent'] }],
    ['two IDs', { uris: [AGENT, 'spiffe://acme.example/admin'] }],
    ['an ID and another URI', { uris: [AGENT, 'https://acme.example'] }],
    ['the ID of a trust domain', { uris: ['spiffe://acme.example'] }],
    ['an authority itself', { uris: [AGENT], isAuthority: true }],
    [
      'a key that signs certificates',
      { uris: [AGENT], keyUsage: KeyUsageFlags.digitalSignature | KeyUsageFlags.keyCertSign },
    ],
    ['a key that is not for signatures', { uris: [AGENT], keyUsage: KeyUsageFlags.keyEncipherment }],
    ['expired', { uris: [AGENT], notBefore: new Date(now() - 2 * hour), notAfter: new Date(now() - hour) }],
    ['not yet valid', { uris: [AGENT], notBefore: new Date(now() + hour), notAfter: new Date(now() + 2 * hour) }],
    ['two DNS names', { dnsNames: ['billing.acme.example', 'admin.acme.example'] }],
    ['a wildcard', { dnsNames: ['*.acme.example'] }],
    ['a DNS name of another authority', { dnsNames: ['billing.acme.example'] }, otherRoot],
    ['an ID, for servers alone', { uris: [AGENT], extensions: [purposes(SERVER)] }],
    ['an ID, for signing code', { uris: [AGENT], extensions: [purposes(CODE)] }],
    ['a DNS name, for servers alone', { dnsNames: ['billing.acme.example'], extensions: [purposes(SERVER)] }],
    ['a DNS name, for no purpose at all', { dnsNames: ['billing.acme.example'], extensions: [purposes()] }],
    [
      'a DNS name, for encryption alone',
      { dnsNames: ['billing.acme.example'], keyUsage: KeyUsageFlags.keyEncipherment },
    ],
  ];

  test.each(wrong)('refuses a certificate: %s', async (_name, request, issuer = root) => {
    const leaf = await issue('leaf', request, issuer);
    expect(await auth().authenticate(over(from(leaf, [issuer])))).toMatchObject({
      kind: 'refused',
      error: { code: 'identity_unverified', status: 401 },
    });
  });

  test.each([
    ['self-signed', () => issue('self', { uris: [AGENT] }), []],
    ['without the certificate in between', async () => agent, []],
    [
      'through one that may not issue',
      async () => issue('below', { uris: [AGENT] }, await issue('leaf', {}, root)),
      [],
    ],
  ])('refuses a chain: %s', async (_name, leaf, issuers) => {
    expect(await auth().authenticate(over(from(await leaf(), issuers)))).toMatchObject({
      error: { code: 'identity_unverified' },
    });
  });

  test.each<[string, CertificateRequest]>([
    ['clients', { extensions: [purposes(SERVER, CLIENT)] }],
    ['any purpose', { extensions: [purposes(ANY)] }],
    ['key agreement', { keyUsage: KeyUsageFlags.keyAgreement }],
  ])('accepts a certificate for %s', async (_name, request) => {
    const leaf = await issue('leaf', { dnsNames: ['billing.acme.example'], ...request }, root);
    expect(await auth().authenticate(over(from(leaf)))).toMatchObject({ kind: 'authenticated' });
  });

  test.each([
    [0, 1, 'authenticated'],
    [0, 2, 'refused'],
    [1, 2, 'authenticated'],
    [1, 3, 'refused'],
  ])('a path length of %i with %i authorities below the root is %s', async (pathLength, authorities, kind) => {
    const chain: Issued[] = [];
    for (let level = 0; level < authorities; level++) {
      const limit = level === 0 ? { pathLength } : {};
      chain.unshift(await issue(`level ${level}`, { isAuthority: true, ...limit }, chain[0] ?? root));
    }
    const leaf = await issue('leaf', { uris: [AGENT] }, chain[0]);
    expect((await auth().authenticate(over(from(leaf, chain)))).kind).toBe(kind);
  });

  test('does not trust a presented leaf as an authority', async () => {
    const between = await issue('between', { uris: ['spiffe://acme.example/other'] }, root);
    const leaf = await issue('leaf', { uris: [AGENT] }, between);
    expect(await auth().authenticate(over(from(leaf, [between])))).toMatchObject({
      error: { code: 'identity_unverified' },
    });
  });

  test('refuses a certificate that the TLS layer does not trust', async () => {
    expect(await auth().authenticate(over(from(agent, [intermediate], false)))).toMatchObject({
      error: { code: 'identity_unverified' },
    });
  });

  test('ignores a certificate of no scheme', async () => {
    expect(await auth().authenticate(over(from(await issue('nobody', {}, root))))).toMatchObject({
      error: { code: 'unauthenticated' },
    });
  });
});

describe(covers('auth.workload.trusted-terminator'), () => {
  const direct = async () => issue('agent', { uris: [AGENT] }, root);
  const xfcc = (leaf: Issued) =>
    `Hash=${hashOf(leaf)};Cert="${encodeURIComponent(leaf.pem)}";Subject="CN=admin";URI=spiffe://acme.example/admin`;
  const via = clientCertificates({ terminator });

  test('identifies the client by the forwarded certificate, not by the fields beside it', async () => {
    const headers = { 'x-forwarded-client-cert': xfcc(await direct()) };
    expect(await auth(via).authenticate(over({ address: '10.0.0.1' }, headers))).toMatchObject({
      principal: { workload: { identity: { subject: AGENT } } },
    });
  });

  test.each([
    ['another address', { address: '10.0.0.2' }],
    ['no address', {}],
    ['no peer', undefined],
  ])('ignores a header from %s', async (_name, peer) => {
    const headers = { 'x-forwarded-client-cert': xfcc(await direct()) };
    expect(await auth(via).authenticate(over(peer, headers))).toMatchObject({ error: { code: 'unauthenticated' } });
  });

  test("the terminator's own certificate is no caller's identity", async () => {
    expect(await auth(via).authenticate(over({ ...from(agent, [intermediate]), address: '10.0.0.1' }))).toMatchObject({
      error: { code: 'unauthenticated' },
    });
  });

  test.each<[string, (leaf: Issued) => string | string[]]>([
    ['two headers', (leaf) => [xfcc(leaf), xfcc(leaf)]],
    ['two elements', (leaf) => `${xfcc(leaf)},${xfcc(leaf)}`],
    ['two certificates', (leaf) => `${xfcc(leaf)};Cert="${encodeURIComponent(leaf.pem)}"`],
    ['a hash of another certificate', (leaf) => xfcc(leaf).replace(/Hash=[0-9a-f]{64}/, `Hash=${'0'.repeat(64)}`)],
    ['fields without a certificate', () => `URI=${AGENT};Subject="CN=agent"`],
    ['a URI in quotation marks', () => `URI="${AGENT}"`],
    ['broken percent-encoding', () => 'Cert="%E0%A4%A"'],
    ['two PEM blocks', (leaf) => `Cert="${encodeURIComponent(leaf.pem + leaf.pem)}"`],
    ['no PEM', () => 'Cert="MIIB"'],
    ['a PEM block without bytes', () => `Cert="${encodeURIComponent(EMPTY_BLOCK)}"`],
    ['a quotation mark too many', (leaf) => `${xfcc(leaf)}"`],
    ['nothing', () => ''],
    ['20 000 characters', () => `Cert="${'A'.repeat(20_000)}"`],
  ])('refuses a header: %s', async (_name, header) => {
    const headers = { 'x-forwarded-client-cert': header(await direct()) } as Record<string, string>;
    expect(await auth(via).authenticate(over({ address: '10.0.0.1' }, headers))).toMatchObject({
      error: { code: 'unauthenticated' },
    });
  });

  test.each<[string, string, (leaf: Issued) => string]>([
    ['RFC 9440', 'client-cert', (leaf) => `:${Buffer.from(leaf.der).toString('base64')}:`],
    ['a PEM in percent-encoding', 'x-ssl-client-cert', (leaf) => encodeURIComponent(leaf.pem)],
  ])('reads a certificate as %s', async (_name, header, write) => {
    const certificateOf = clientCertificates({ terminator: { ...terminator, header } });
    const headers = { [header]: write(await direct()) };
    expect(await auth(certificateOf).authenticate(over({ address: '10.0.0.1' }, headers))).toMatchObject({
      kind: 'authenticated',
    });
  });
});

describe('a token that is bound to a certificate (RFC 8705)', () => {
  let idp: Signer;
  beforeAll(async () => {
    idp = await signer('ES256');
  });

  async function bound(thumbprint: string, peer: Peer | undefined, headers: Record<string, string> = {}) {
    const seconds = Math.floor(now() / 1000);
    const claims = { iss: 'https://idp.example.com', aud: 'svc', sub: 'u_1', iat: seconds, exp: seconds + 60 };
    const grants = { svc_tenant: 'acme', svc_workspaces: ['*'], cnf: { 'x5t#S256': thumbprint } };
    const token = await idp.sign({ ...claims, ...grants });
    const keys = localKeys(keySetOf(idp));
    const issuers = [{ issuer: claims.iss, audience: 'svc', profile: 'user', keys } as const];
    const certificateOf = clientCertificates({ terminator });
    const lanes = [bearerLane({ issuers, certificateOf, now })];
    return authenticator({ lanes }).authenticate(over(peer, { authorization: `Bearer ${token}`, ...headers }));
  }

  test('is accepted over a connection with that certificate, of any issuer', async () => {
    expect(await bound(thumbprintOf(agent), from(agent, [], false))).toMatchObject({ principal: { binding: 'mtls' } });
  });

  test('is accepted with the hash that the terminator forwards', async () => {
    const headers = { 'x-forwarded-client-cert': `Hash=${hashOf(agent)}` };
    expect(await bound(thumbprintOf(agent), { address: '10.0.0.1' }, headers)).toMatchObject({
      principal: { binding: 'mtls' },
    });
    expect(await bound(thumbprintOf(agent), { address: '10.9.9.9' }, headers)).toMatchObject({
      error: { code: 'sender_constraint_missing' },
    });
  });

  test('that is also bound to a key must prove both', async () => {
    const client = await proofMaker();
    const seconds = Math.floor(now() / 1000);
    const cnf = { jkt: client.thumbprint, 'x5t#S256': thumbprintOf(agent) };
    const claims = { iss: 'https://idp.example.com', aud: 'svc', sub: 'u_1', iat: seconds, exp: seconds + 60 };
    const token = await idp.sign({ ...claims, svc_tenant: 'acme', svc_workspaces: ['*'], cnf });
    const issuers = [{ issuer: claims.iss, audience: 'svc', profile: 'user', keys: localKeys(keySetOf(idp)) } as const];
    const dpop = dpopVerifier({ origin: 'https://svc.example.com', replays: memoryReplayStore({ now }), now });
    const lanes = [bearerLane({ issuers, certificateOf: clientCertificates(), dpop, now })];
    const send = async (peer: Peer, scheme: string, htm = 'GET') => {
      const proof = await client.proof({ htm, htu: 'https://svc.example.com/x', token });
      const headers = { authorization: `${scheme} ${token}`, dpop: proof };
      return authenticator({ lanes }).authenticate({ ...over(peer, headers), method: 'GET', url: '/x' });
    };
    expect(await send(from(agent), 'DPoP')).toMatchObject({ kind: 'authenticated', principal: { binding: 'dpop' } });
    expect(await send(from(machine), 'DPoP')).toMatchObject({ error: { code: 'sender_constraint_missing' } });
    expect(await send(from(agent), 'DPoP', 'POST')).toMatchObject({ error: { code: 'unauthenticated' } });
    expect(await send(from(agent), 'Bearer')).toMatchObject({ error: { code: 'sender_constraint_missing' } });
  });

  test('is refused over any other connection', async () => {
    for (const peer of [from(machine), undefined, { address: '192.0.2.1' }]) {
      expect(await bound(thumbprintOf(agent), peer)).toMatchObject({ error: { code: 'sender_constraint_missing' } });
    }
  });
});

describe('over real TLS', () => {
  let server: Server;
  beforeAll(async () => {
    const authenticate = auth(clientCertificates(), [intermediate.pem]);
    server = createServer(
      {
        key: serverCertificate.keyPem,
        cert: serverCertificate.pem,
        ca: [root.pem],
        requestCert: true,
        rejectUnauthorized: false,
      },
      async (request, response) => {
        const { method, url, headers, headersDistinct, socket } = request;
        const outcome = await authenticate.authenticate({
          method,
          url,
          headers,
          headersDistinct,
          peer: peerOf(socket as TLSSocket),
        });
        response.end(
          outcome.kind === 'authenticated' ? outcome.principal.workload?.identity.subject : outcome.error.code,
        );
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => server.close());

  function get(client?: { key: string; cert: string }): Promise<string> {
    const { port } = server.address() as AddressInfo;
    const options = { host: '127.0.0.1', port, servername: 'localhost', ca: [root.pem], agent: false, ...client };
    return new Promise((resolve, reject) => {
      send(options, async (response) => resolve((await response.setEncoding('utf8').toArray()).join('')))
        .on('error', reject)
        .end();
    });
  }

  test('identifies the caller by the certificate of the connection', async () => {
    expect(await get({ key: agent.keyPem, cert: agent.pem + intermediate.pem })).toBe(AGENT);
    expect(await get({ key: machine.keyPem, cert: machine.pem })).toBe('billing.acme.example');
  });

  test('refuses a connection without a certificate or with a self-signed one', async () => {
    const self = await issue('self', { uris: [AGENT] });
    expect(await get()).toBe('unauthenticated');
    expect(await get({ key: self.keyPem, cert: self.pem })).toBe('identity_unverified');
  });
});

describe('reading a certificate', () => {
  test('returns facts or undefined for any bytes', () => {
    const mutated = fc.tuple(fc.nat(agent.der.length - 1), fc.nat(255), fc.nat(agent.der.length));
    fc.assert(
      fc.property(mutated, ([at, byte, length]) => {
        const bytes = agent.der.slice(0, length);
        bytes[at] = byte;
        expect(['object', 'undefined']).toContain(typeof readCertificate(bytes));
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(['object', 'undefined']).toContain(typeof readCertificate(bytes));
      }),
    );
  });

  test('returns the facts of a certificate', () => {
    expect(readCertificate(agent.der)).toMatchObject({ uris: [AGENT], dnsNames: [], isAuthority: false });
    expect(readCertificate(root.der)).toMatchObject({ isAuthority: true, keyUsage: { signsCertificates: true } });
  });
});

/** The extended key usage, which may be empty. */
function purposes(...usages: string[]): ExtendedKeyUsageExtension {
  return new ExtendedKeyUsageExtension(usages);
}

function thumbprintOf({ der }: Issued): string {
  return Buffer.from(hashOf({ der }), 'hex').toString('base64url');
}

function hashOf({ der }: Pick<Issued, 'der'>): string {
  return hash('sha256', der, 'hex');
}
