import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { launch } from './child.ts';

/** A reference host that takes keys, tokens, DPoP proofs and JWT-SVIDs. */
export interface GuardedHost {
  readonly url: string;
  /** A key that the configuration brings. */
  readonly key: string;
  /** A key that may change other keys. */
  readonly operatorKey: string;
  /** Resolves when the process ends, with its signal or exit code. */
  readonly ended: Promise<string>;
  /** Signs a token as the issuer of the host's configuration. */
  mint(claims: JWTPayload, type: 'at+jwt' | 'JWT'): Promise<string>;
  /** Sends a request for a run that does not exist: 404 for an accepted caller. */
  ask(headers: Readonly<Record<string, string>>): Promise<Answer>;
  /** Calls an operation of the operator. */
  operate(path: string, body?: object): Promise<Answer>;
  end(): Promise<void>;
}

/** An answer of the host. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export const ISSUER = 'https://idp.example.com';
export const AUDIENCE = 'svc';
export const AGENT = 'spiffe://acme.example/agent';
/** The status of an accepted request: its run is absent. */
export const ACCEPTED = 404;
export const PATH = '/v1/runs/run_01k0000000000000000000000z';

/** Starts the host on an SQLite database in a folder. It refuses an address above 300 refused credentials in a minute. */
export async function startGuardedHost(folder: string): Promise<GuardedHost> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'key-1', alg: 'ES256' };
  const keysFile = join(folder, 'keys.json');
  const bundleFile = join(folder, 'bundle.json');
  const file = join(folder, 'host.json');
  writeFileSync(keysFile, JSON.stringify({ keys: [{ ...jwk, use: 'sig' }] }));
  writeFileSync(bundleFile, JSON.stringify({ keys: [{ ...jwk, use: 'jwt-svid' }] }));
  writeFileSync(file, JSON.stringify(configOf(folder, keysFile, bundleFile)));
  const child = launch([MAIN, '--config', file], join(folder, 'host.log'));
  const { url }: { url: string } = JSON.parse(await child.firstLine);
  return {
    url,
    key: KEY,
    operatorKey: OPERATOR,
    ended: child.ended,
    mint: (claims, typ) => new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'key-1', typ }).sign(privateKey),
    ask: (headers) => answerTo(`${url}${PATH}`, { headers }),
    operate: (path, body) =>
      answerTo(`${url}/host/example${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${OPERATOR}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
    async end() {
      child.kill('SIGTERM');
      await child.ended;
    },
  };
}

const MAIN = fileURLToPath(new URL('../examples/reference-host/dist/main.js', import.meta.url));
const KEY = 'soak_key_of_a_caller_of_the_guarded_host';
const OPERATOR = 'soak_key_of_an_operator_of_the_guarded_host';

async function answerTo(url: string, request: RequestInit): Promise<Answer> {
  const response = await fetch(url, { ...request, signal: AbortSignal.timeout(ANSWER_MS) });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** A machine with other work is slow. A late answer is judged like an early one. */
const ANSWER_MS = 30_000;

function configOf(folder: string, jwksFile: string, bundleFile: string): object {
  const grants = { tenant: 'acme', workspaces: ['acme-prod'] };
  return {
    listen: { port: 0 },
    store: `sqlite:${join(folder, 'svc.db')}`,
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    rateLimit: { limit: 1_000_000, windowSeconds: 60, refusals: { limit: 300, windowSeconds: 60 } },
    apiKeys: [
      { id: 'steady', key: KEY, ...grants, principal: 'p_steady', scopes: ['runs:read'] },
      { id: 'operator', key: OPERATOR, ...grants, principal: 'p_operator', scopes: ['keys:manage', 'runs:read'] },
    ],
    oauth2: { issuers: [{ issuer: ISSUER, audience: AUDIENCE, algorithms: ['ES256'], jwksFile }] },
    dpop: { nonce: true },
    workloadIdentity: {
      schemes: ['spiffe'],
      audience: AUDIENCE,
      trustDomains: [{ name: 'acme.example', jwksFile: bundleFile }],
      bindings: [{ subject: AGENT, principal: 'p_agent', ...grants, scopes: ['runs:read'] }],
    },
  };
}
