import { randomBytes, randomUUID } from 'node:crypto';
import { generateKeyPair, SignJWT } from 'jose';
import { AGENT, AUDIENCE, type GuardedHost, ISSUER } from './guarded-host.ts';

/** The answers to each kind of stranger, by status. */
export type StrangerFigures = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Attackers of a host. */
export interface Strangers {
  stop(): Promise<void>;
  figures(): StrangerFigures;
}

/**
 * Begins to attack a host from the address of its valid callers, with 500 requests in a second. 200 of them have tokens
 * whose signature the host would have to verify: fewer than the 250 that an address may have verified in a second.
 *
 * @param tokens the current token of each valid caller, for copies of it
 * @param find receives each attack that was accepted
 */
export function strangers(
  host: GuardedHost,
  tokens: ReadonlyMap<string, string>,
  find: (finding: string) => void,
): Strangers {
  const seen: Record<string, Record<string, number>> = {};
  const running = new Set<Promise<void>>();
  const forger = generateKeyPair('ES256');
  const forged = async (claims: object) => {
    const iat = Math.floor(Date.now() / 1000);
    return new SignJWT({ iss: ISSUER, aud: AUDIENCE, iat, exp: iat + 300, jti: randomUUID(), ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'key-1', typ: 'at+jwt' })
      .sign((await forger).privateKey);
  };
  const copied = (name: string) => {
    const [header, claims] = (tokens.get(name) ?? '').split('.');
    return `${header}.${claims}.${randomBytes(64).toString('base64url')}`;
  };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  /** Requests in a second, and the headers of each. */
  const attacks: Readonly<Record<string, readonly [number, () => Headers | Promise<Headers>]>> = {
    anonymous: [100, () => ({})],
    guess: [100, () => bearer(`svc_live_${randomBytes(16).toString('hex')}`)],
    garbage: [60, () => bearer('x')],
    expired: [40, async () => bearer(await forged({ sub: 'm_1', client_id: 'm_1', exp: 1_700_000_000 }))],
    copyOfToken: [80, () => bearer(copied('token'))],
    copyOfSvid: [20, () => bearer(copied('svid'))],
    copyOfDpop: [20, () => ({ authorization: `DPoP ${copied('dpop')}`, dpop: 'x' })],
    stolenDpop: [20, () => ({ authorization: `DPoP ${tokens.get('dpop')}`, dpop: 'x' })],
    sameClaims: [30, async () => bearer(await forged({ sub: 'm_1', client_id: 'm_1' }))],
    otherClaims: [20, async () => bearer(await forged({ sub: randomUUID(), client_id: randomUUID() }))],
    otherSvid: [10, async () => bearer(await forged({ sub: `${AGENT}-${randomUUID()}` }))],
  };
  const timers = Object.entries(attacks).map(([name, [rate, headersOf]]) =>
    setInterval(() => {
      if (running.size >= MOST_RUNNING) return;
      const attack: Promise<void> = attacked(name, headersOf).finally(() => running.delete(attack));
      running.add(attack);
    }, 1000 / rate),
  );

  async function attacked(name: string, headersOf: () => Headers | Promise<Headers>): Promise<void> {
    const answer = await host.ask(await headersOf()).catch(() => ({ status: 0, text: 'no answer' }));
    const counts = seen[name] ?? {};
    seen[name] = counts;
    counts[answer.status] = (counts[answer.status] ?? 0) + 1;
    if (answer.status === 401 || answer.status === 429 || answer.status === 0) return;
    find(`${name}: a stranger got ${answer.status}: ${answer.text}`);
  }

  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running);
    },
    figures: () => structuredClone(seen),
  };
}

type Headers = Readonly<Record<string, string>>;

/** After a pause of the machine, no more than these arrive at once. */
const MOST_RUNNING = 100;
