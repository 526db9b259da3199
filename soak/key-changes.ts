import type { Chance } from '@svc/tools/chance';
import { sleep } from './child.ts';
import { ACCEPTED, type GuardedHost } from './guarded-host.ts';
import { type KnownKey, verdictOn } from './known-key.ts';

/** The changes of keys, and the requests with them. */
export interface KeyFigures {
  readonly issued: number;
  readonly rotated: number;
  readonly revoked: number;
  /** Accepted requests. */
  readonly accepted: number;
  /** Refused requests. */
  readonly refused: number;
}

/** Operators that change keys, and callers that use them. */
export interface KeyChanges {
  stop(): Promise<void>;
  figures(): KeyFigures;
}

/**
 * Begins to issue, rotate and revoke keys, and to use them all the time, also those that are revoked. Each answer is
 * judged: see `verdictOn`.
 *
 * @param find receives each answer that is wrong
 */
export function keyChanges(host: GuardedHost, chance: Chance, find: (finding: string) => void): KeyChanges {
  const keys: KnownKey[] = [];
  const counts = { issued: 0, rotated: 0, revoked: 0, accepted: 0, refused: 0 };
  let isStopped = false;

  function known({ key, apiKey }: MadeKey): void {
    keys.push({ key, id: apiKey.id, isRevoked: false, changes: 0, endsAt: undefined });
    if (keys.length > MOST_KEYS) keys.splice(0, keys.length - MOST_KEYS);
  }

  async function made<Made>(path: string, expected: number, body?: object): Promise<Made | undefined> {
    const { status, text } = await host.operate(path, body);
    if (status === expected) return JSON.parse(text);
    if (!isStopped) find(`POST ${path}: an operator got ${status}: ${text}`);
    return undefined;
  }

  async function issue(): Promise<void> {
    const answer = await made<MadeKey>('/keys', 201, { name: 'Soak', scopes: ['runs:read'] });
    if (answer === undefined) return;
    counts.issued += 1;
    known(answer);
  }

  async function revoke(key: KnownKey): Promise<void> {
    key.changes += 1;
    const answer = await made(`/keys/${key.id}/revoke`, 200);
    key.changes -= 1;
    if (answer === undefined) return;
    key.isRevoked = true;
    counts.revoked += 1;
  }

  async function rotate(key: KnownKey): Promise<void> {
    key.changes += 1;
    const graceSeconds = chance.below(4);
    const answer = await made<MadeKey & Rotation>(`/keys/${key.id}/rotate`, 201, { graceSeconds });
    key.changes -= 1;
    if (answer === undefined) return;
    key.endsAt = Date.parse(answer.retired.revokedAt);
    counts.rotated += 1;
    known(answer);
  }

  async function operate(): Promise<void> {
    while (!isStopped) {
      const live = keys.filter(({ isRevoked, changes, endsAt }) => !isRevoked && changes === 0 && endsAt === undefined);
      const chosen = live[chance.below(live.length)];
      if (chosen === undefined || live.length < FEWEST_LIVE) await issue();
      else if (chance.happens(0.5)) await revoke(chosen);
      else await rotate(chosen);
      await sleep(chance.below(40));
    }
  }

  async function use(): Promise<void> {
    while (!isStopped) {
      const key = keys[chance.below(keys.length)];
      if (key === undefined) {
        await sleep(10);
        continue;
      }
      const before = { ...key };
      const begunAt = Date.now();
      const { status } = await host.ask({ authorization: `Bearer ${key.key}` }).catch(() => ({ status: 0 }));
      const verdict = verdictOn(before, { ...key }, { begunAt, endedAt: Date.now() });
      if (status === ACCEPTED) counts.accepted += 1;
      else counts.refused += 1;
      if (isStopped) return;
      if (verdict === 'refused' && status !== 401 && status !== 429)
        find(`A revoked key got ${status}: ${key.id}, after the answer to its revocation.`);
      if (verdict === 'accepted' && status !== ACCEPTED) find(`A live key got ${status}: ${key.id}.`);
      await sleep(chance.below(10));
    }
  }

  const loops = [...Array.from({ length: OPERATORS }, operate), ...Array.from({ length: USERS }, use)];
  return {
    async stop() {
      isStopped = true;
      await Promise.all(loops);
    },
    figures: () => ({ ...counts }),
  };
}

/** The keys that are used. Older ones are forgotten. */
const MOST_KEYS = 60;
const FEWEST_LIVE = 10;
const OPERATORS = 2;
const USERS = 4;

interface MadeKey {
  readonly key: string;
  readonly apiKey: { readonly id: string };
}

interface Rotation {
  readonly retired: { readonly revokedAt: string };
}
