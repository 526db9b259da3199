import { hash, randomBytes } from 'node:crypto';
import { authenticator, authorize } from '@svc/auth';
import { apiKeyLane, cachedKeyStore, memoryKeyStore, mintApiKey } from '@svc/auth/api-key';
import { summary } from '../alternate.mjs';
import { printTable, rate } from '../table.mjs';

const ROUNDS = 9;
const ROUND_MS = 200;
const BATCH = 500;
const GOAL = 300_000;

/**
 * Measures full checks of an API key per second on one core: header, form, hash, lookup among a thousand keys,
 * constant-time comparison, expiry, scope. The limit is one SHA-256 of the key. The goals are 300 000 a second, and 0.7
 * of the limit.
 */
export default async function apiKey() {
  const keys = Array.from({ length: 1000 }, () => mintApiKey({ mode: 'live', randomBytes }));
  const expiresAt = Date.now() + 3_600_000;
  const records = keys.map(({ hash: stored }, index) => ({
    id: `key_${index}`,
    hash: stored,
    tenant: 'acme',
    workspaces: ['acme-prod'],
    principal: `p_${index}`,
    scopes: ['runs:read', 'runs:create'],
    mode: 'live',
    expiresAt,
  }));
  const auth = authenticator({ lanes: [apiKeyLane({ keys: memoryKeyStore(records) })] });
  const load = async (hashes) => records.filter((record) => hashes.includes(record.hash));
  const cached = authenticator({ lanes: [apiKeyLane({ keys: cachedKeyStore({ load }) })] });
  const requests = keys.map(({ key }) => ({
    headers: { host: 'svc.example', authorization: `Bearer ${key}`, accept: '*/*' },
  }));
  let turn = 0;
  const next = (list) => {
    turn = (turn + 1) % list.length;
    return list[turn];
  };
  const check = async (by) => {
    for (let index = 0; index < BATCH; index += 1) {
      const outcome = await by.authenticate(next(requests));
      if (outcome.kind !== 'authenticated' || !authorize(outcome.principal, 'runs:read').allowed)
        throw new Error('The API key was rejected.');
    }
  };
  const candidates = {
    'SHA-256 of the key': async () => {
      for (let index = 0; index < BATCH; index += 1) hash('sha256', next(keys).key, 'hex');
    },
    'ours, authenticate and authorize': () => check(auth),
    'ours, keys of a store, from memory': () => check(cached),
  };
  const rates = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
  for (const work of Object.values(candidates)) await perSecond(work);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, work] of Object.entries(candidates)) rates[name].push(await perSecond(work));
  }
  const found = Object.fromEntries(Object.entries(rates).map(([name, values]) => [name, summary(values)]));
  const limit = found['SHA-256 of the key'].perSecond;
  printTable(
    ['API key', 'per second', 'of the limit', 'of 300 k'],
    Object.entries(found).map(([name, { perSecond: each }]) => [
      name,
      rate(each),
      (each / limit).toFixed(2),
      (each / GOAL).toFixed(2),
    ]),
  );
  return { goal: GOAL, limit: 'SHA-256 of the key', found };
}

async function perSecond(work) {
  const started = performance.now();
  let done = 0;
  while (performance.now() - started < ROUND_MS) {
    await work();
    done += BATCH;
  }
  return (done / (performance.now() - started)) * 1000;
}
