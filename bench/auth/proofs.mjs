import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { authenticator } from '@svc/auth';
import { bearerLane, localKeys } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore } from '@svc/auth/dpop';
import { postgresReplayStore } from '@svc/auth/dpop/postgres';
import { sqliteReplayStore } from '@svc/auth/dpop/sqlite';
import { memoryRateLimiter } from '@svc/auth/rate-limit';
import { postgresRateLimiter } from '@svc/auth/rate-limit/postgres';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import pg from 'pg';
import { startPostgres } from '../../tools/postgres.ts';
import { printTable, rate } from '../table.mjs';

const ORIGIN = 'https://svc.example.com';
const ISSUER = 'https://idp.example.com';
const PROOFS = 4000;
const KEYS = 1000;

/**
 * Measures requests with DPoP proofs (ES256), each new, against every replay store, and counts of the rate limiters: one
 * after another, and with 64 under way. `none` accepts every proof, and is the limit.
 */
export default async function proofs() {
  const postgres = await startPostgres({ flushes: true });
  const pool = new pg.Pool({ connectionString: postgres.url, max: 4 });
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  try {
    const options = { maxEntries: 1_000_000 };
    const inPostgres = postgresReplayStore(pool, options);
    await inPostgres.migrate();
    const stores = {
      none: { claim: () => 'fresh' },
      memory: memoryReplayStore(options),
      SQLite: sqliteReplayStore(join(folder, 'proofs.db'), options),
      PostgreSQL: inPostgres,
    };
    const limits = { limit: 1_000_000, windowSeconds: 3600 };
    const limiters = {
      memory: memoryRateLimiter(limits),
      PostgreSQL: await postgresRateLimiter({ pool, ...limits, timeoutMs: 5000 }),
    };
    const client = await clientOf();
    const found = {};
    for (const [name, replays] of Object.entries(stores)) {
      found[`proofs, ${name}`] = await measured(await client(replays));
    }
    for (const [name, limiter] of Object.entries(limiters)) {
      let turn = 0;
      found[`counts, ${name}`] = await measured(() => limiter.consume(`key_${turn++ % KEYS}`));
    }
    const rows = Object.entries(found).map(([name, { alone, together, p99Ms }]) => [
      name,
      rate(alone),
      rate(together),
      p99Ms.toFixed(1),
    ]);
    printTable(['store', 'one after another /s', '64 under way /s', 'p99 of these, ms'], rows);
    return { found };
  } finally {
    await pool.end();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes a function that prepares requests with new proofs, and returns one that authenticates the next of them. */
async function clientOf() {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const client = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(client.publicKey);
  const keys = localKeys({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }] });
  return async (replays) => {
    const iat = Math.floor(Date.now() / 1000);
    const claims = { iss: ISSUER, aud: 'svc', sub: 'u_7f3a9c1b', iat, exp: iat + 3600, jti: randomUUID() };
    const mapped = { ...claims, client_id: 'console', svc_tenant: 'acme', svc_workspaces: ['acme-prod'] };
    const token = await new SignJWT({ ...mapped, cnf: { jkt: await calculateJwkThumbprint(jwk) } })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1', typ: 'at+jwt' })
      .sign(privateKey);
    const ath = createHash('sha256').update(token).digest('base64url');
    const made = await Promise.all(
      Array.from({ length: 2 * PROOFS }, () =>
        new SignJWT({ htm: 'GET', htu: `${ORIGIN}/v1/runs/run_1`, iat, jti: randomUUID(), ath })
          .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
          .sign(client.privateKey),
      ),
    );
    const dpop = dpopVerifier({ origin: ORIGIN, replays });
    const auth = authenticator({
      lanes: [bearerLane({ issuers: [{ issuer: ISSUER, audience: 'svc', profile: 'user', keys }], dpop })],
    });
    return async () => {
      const headers = { authorization: `DPoP ${token}`, dpop: made.pop() };
      const outcome = await auth.authenticate({ method: 'GET', url: '/v1/runs/run_1', headers });
      if (outcome.kind !== 'authenticated') throw outcome.error;
    };
  };
}

async function measured(work) {
  const alone = await perSecond(work, 1);
  const latencies = [];
  const together = await perSecond(work, 64, latencies);
  latencies.sort((one, other) => one - other);
  return { alone, together, p99Ms: latencies[Math.floor(latencies.length * 0.99)] };
}

/** Works `PROOFS` times, with so many under way. */
async function perSecond(work, underWay, latencies = []) {
  const started = performance.now();
  let left = PROOFS;
  const worker = async () => {
    while (left-- > 0) {
      const before = performance.now();
      await work();
      latencies.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: underWay }, worker));
  return (PROOFS / (performance.now() - started)) * 1000;
}
