import { createHash, randomUUID } from 'node:crypto';
import type { Chance } from '@svc/tools/chance';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { sleep } from './child.ts';
import { ACCEPTED, AGENT, type Answer, AUDIENCE, type GuardedHost, ISSUER, PATH } from './guarded-host.ts';

/** Callers with valid credentials. Each is found when it is refused. */
export interface ValidCallers {
  /** The current token of each caller that has one. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Sends one request of each caller. */
  introduce(): Promise<void>;
  /** Begins to send requests, until `stop`. */
  begin(): void;
  stop(): Promise<void>;
  /** The number of tokens so far. */
  minted(): number;
  /** The requests of each caller. */
  figures(): Readonly<Record<string, number>>;
}

/** Makes one caller of each kind. A token is used for up to 20 requests, and then replaced by a new one. */
export function validCallers(host: GuardedHost, chance: Chance, find: (finding: string) => void): ValidCallers {
  const tokens = new Map<string, string>();
  const asked: Record<string, number> = {};
  let minted = 0;
  let isStopped = false;
  let loops: readonly Promise<void>[] = [];
  const holder = proofHolder(host.url);

  const mint = async (name: string, claims: JWTPayload, type: 'at+jwt' | 'JWT'): Promise<string> => {
    const iat = Math.floor(Date.now() / 1000);
    const token = await host.mint({ aud: AUDIENCE, iat, exp: iat + 300, jti: randomUUID(), ...claims }, type);
    tokens.set(name, token);
    minted += 1;
    return token;
  };
  const callers: Readonly<Record<string, Caller>> = {
    key: { fresh: async () => host.key, ask: (key) => host.ask({ authorization: `Bearer ${key}` }) },
    token: {
      fresh: () => mint('token', clientClaims('m_1'), 'at+jwt'),
      ask: (token) => host.ask({ authorization: `Bearer ${token}` }),
    },
    dpop: {
      fresh: async () => {
        const { thumbprint } = await holder;
        return mint('dpop', { ...clientClaims('m_2'), cnf: { jkt: thumbprint } }, 'at+jwt');
      },
      ask: async (token) => (await holder).ask(token, host),
    },
    svid: {
      fresh: () => mint('svid', { sub: AGENT }, 'JWT'),
      ask: (token) => host.ask({ authorization: `Bearer ${token}` }),
    },
  };

  const use = async (name: string, caller: Caller, times: number): Promise<void> => {
    const credential = await caller.fresh();
    for (let turn = 0; turn < times && !isStopped; turn++) {
      asked[name] = (asked[name] ?? 0) + 1;
      const answer = await caller.ask(credential).catch((error: unknown) => ({ status: 0, text: String(error) }));
      if (answer.status !== ACCEPTED && !isStopped)
        find(`${name}: a valid caller got ${answer.status} at request ${turn + 1} of its credential: ${answer.text}`);
      if (times > 1) await sleep(PAUSE_MS);
    }
  };

  return {
    tokens,
    async introduce() {
      for (const [name, caller] of Object.entries(callers)) await use(name, caller, 1);
    },
    begin() {
      loops = Object.entries(callers).map(async ([name, caller]) => {
        while (!isStopped) await use(name, caller, 2 + chance.below(19));
      });
    },
    async stop() {
      isStopped = true;
      await Promise.all(loops);
    },
    minted: () => minted,
    figures: () => ({ ...asked }),
  };
}

interface Caller {
  fresh(): Promise<string>;
  ask(credential: string): Promise<Pick<Answer, 'status' | 'text'>>;
}

const PAUSE_MS = 50;

function clientClaims(id: string): JWTPayload {
  return {
    iss: ISSUER,
    sub: id,
    client_id: id,
    svc_tenant: 'acme',
    svc_workspaces: ['acme-prod'],
    scope: 'runs:read',
  };
}

interface ProofHolder {
  readonly thumbprint: string;
  /** Sends a request with a proof, and once more when the host sends a nonce. */
  ask(token: string, host: GuardedHost): Promise<Answer>;
}

async function proofHolder(origin: string): Promise<ProofHolder> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  let nonce: string | undefined;
  let turn = 0;
  const proofOf = (token: string) =>
    new SignJWT({
      htm: 'GET',
      htu: `${origin}${PATH}`,
      iat: Math.floor(Date.now() / 1000),
      jti: randomUUID(),
      ath: createHash('sha256').update(token).digest('base64url'),
      ...(nonce !== undefined && { nonce }),
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .sign(privateKey);
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    async ask(token, host) {
      // Without a nonce in every tenth request, as a client that has just started.
      if (turn++ % 10 === 0) nonce = undefined;
      for (let attempt = 0; ; attempt++) {
        const answer = await host.ask({ authorization: `DPoP ${token}`, dpop: await proofOf(token) });
        const fresh = answer.headers.get('dpop-nonce') ?? undefined;
        if (fresh !== undefined) nonce = fresh;
        if (answer.status !== 401 || fresh === undefined || attempt > 0) return answer;
      }
    },
  };
}
