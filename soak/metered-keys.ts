import type { Chance } from '@svc/tools/chance';
import { sleep } from './child.ts';
import { ACCEPTED, type GuardedHost } from './guarded-host.ts';

/** The keys with a quota, and the requests with them. */
export interface QuotaFigures {
  /** Keys whose quota was used up. */
  readonly usedUp: number;
  /** Replacements of a key, which share its quota. */
  readonly rotated: number;
  /** Accepted requests. */
  readonly accepted: number;
  /** Requests above a quota. */
  readonly refused: number;
}

/** Callers with a quota. */
export interface MeteredKeys {
  stop(): Promise<void>;
  figures(): QuotaFigures;
}

/** A quota as its users know it. */
export interface KnownQuota {
  readonly id: string;
  readonly limit: number;
  /** Requests that were begun. */
  begun: number;
  /** Accepted requests. */
  accepted: number;
  /** The time of the first request, in milliseconds since the epoch. */
  readonly since: number;
}

/**
 * Judges an answer to a request with a quota of a day. Returns undefined for a right answer.
 *
 * @param status of the answer; 0 for no answer
 * @param at the time of the answer, in milliseconds since the epoch
 */
export function quotaFinding({ id, limit, begun, accepted, since }: KnownQuota, status: number, at: number) {
  // A soak that runs over midnight has the quota of each day.
  const most = limit * (Math.floor(at / DAY_MS) - Math.floor(since / DAY_MS) + 1);
  if (accepted > most) return `The key ${id} with a quota of ${limit} in a day had ${accepted} requests accepted.`;
  // Requests under way may have been counted already.
  if (status === 429 && begun <= limit) return `The key ${id} got 429 at the request ${begun} of its ${limit}.`;
  if (status !== ACCEPTED && status !== 429 && status !== 0) return `The key ${id} with a quota got ${status}.`;
  return undefined;
}

const DAY_MS = 86_400_000;

/**
 * Begins to issue keys with a quota, and to use each with several callers at once, also after a rotation, until more requests
 * were sent than it has. Each answer is judged: see `quotaFinding`.
 *
 * @param find receives each answer that is wrong
 */
export function meteredKeys(host: GuardedHost, chance: Chance, find: (finding: string) => void): MeteredKeys {
  const counts = { usedUp: 0, rotated: 0, accepted: 0, refused: 0 };
  let isStopped = false;

  async function made(path: string, body: object): Promise<MadeKey | undefined> {
    const { status, text } = await host.operate(path, body);
    if (status === 201) return JSON.parse(text);
    if (!isStopped) find(`POST ${path}: an operator got ${status}: ${text}`);
    return undefined;
  }

  async function useUp(): Promise<void> {
    const limit = 1 + chance.below(MOST_REQUESTS);
    const quota = { limit, period: 'day' };
    const first = await made('/keys', { name: 'Metered', scopes: ['runs:read'], quota });
    if (first === undefined) return;
    const known: KnownQuota = { id: first.apiKey.id, limit, begun: 0, accepted: 0, since: Date.now() };
    let last = first;
    let wasRefused = false;

    const ask = async (): Promise<void> => {
      while (!isStopped && known.begun < limit + USERS) {
        known.begun += 1;
        const { key } = chance.happens(0.5) ? first : last;
        const { status } = await host.ask({ authorization: `Bearer ${key}` }).catch(() => ({ status: 0 }));
        if (status === ACCEPTED) {
          known.accepted += 1;
          counts.accepted += 1;
        } else if (status === 429) {
          wasRefused = true;
          counts.refused += 1;
        }
        const finding = isStopped && status !== ACCEPTED ? undefined : quotaFinding(known, status, Date.now());
        if (finding !== undefined) find(finding);
        await sleep(chance.below(5));
      }
    };
    const rotate = async (): Promise<void> => {
      await sleep(chance.below(100));
      const next = await made(`/keys/${first.apiKey.id}/rotate`, { graceSeconds: GRACE_SECONDS });
      if (next === undefined) return;
      counts.rotated += 1;
      last = next;
    };
    await Promise.all([rotate(), ...Array.from({ length: USERS }, ask)]);
    if (wasRefused) counts.usedUp += 1;
  }

  async function go(): Promise<void> {
    while (!isStopped) {
      await useUp();
      await sleep(PAUSE_MS);
    }
  }

  const running = go();
  return {
    async stop() {
      isStopped = true;
      await running;
    },
    figures: () => ({ ...counts }),
  };
}

const MOST_REQUESTS = 30;
const USERS = 4;
const PAUSE_MS = 20;
/** Longer than any use of a key. */
const GRACE_SECONDS = 3600;

interface MadeKey {
  readonly key: string;
  readonly apiKey: { readonly id: string };
}
