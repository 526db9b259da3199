import type { KeyQuota, KeyRateLimit } from '@svc/auth/api-key';
import { type Cidr, inCidr, parseCidr } from '@svc/egress-guard';
import { HostError } from '../errors.ts';

/** The limits of a key beside its scopes. */
export interface KeyRestrictions {
  readonly rateLimit?: KeyRateLimit | undefined;
  /** With its `account`, except where a caller asks for a quota. */
  readonly quota?: KeyQuota | undefined;
  readonly allowedAddresses?: readonly string[] | undefined;
}

/**
 * Returns the limits of a key that a caller makes: those that it asks for, and otherwise those of the caller. The key draws
 * on the count of the caller: otherwise a caller would have its quota once more with each key.
 *
 * @throws {HostError} `forbidden` when they are wider than those of the caller
 */
export function requireWithin(own: KeyRestrictions, asked: KeyRestrictions): KeyRestrictions {
  const rateLimit = asked.rateLimit ?? own.rateLimit;
  const allowedAddresses = asked.allowedAddresses ?? own.allowedAddresses;
  if (own.rateLimit !== undefined && rateLimit !== undefined && !isSlower(rateLimit, own.rateLimit)) {
    throw wider('rateLimit: must not allow more requests than that of the caller.');
  }
  const outer = own.allowedAddresses?.map(parseCidr).filter((cidr) => cidr !== undefined);
  if (outer !== undefined && !(allowedAddresses ?? []).every((block) => isInside(block, outer))) {
    throw wider('allowedAddresses: must be within those of the caller.');
  }
  const quota = own.quota === undefined ? asked.quota : sharedQuota(own.quota, asked.quota ?? own.quota);
  return {
    ...(rateLimit !== undefined && { rateLimit }),
    ...(quota !== undefined && { quota }),
    ...(allowedAddresses !== undefined && { allowedAddresses }),
  };
}

/**
 * Requires that a key that exists has no wider limits than the caller, which is to learn its replacement.
 *
 * @throws {HostError} `forbidden`
 */
export function requireNotWider(own: KeyRestrictions, key: KeyRestrictions): void {
  requireWithin(own, key);
  if (own.rateLimit !== undefined && key.rateLimit === undefined) throw wider('rateLimit: the key has none.');
  if (own.allowedAddresses !== undefined && key.allowedAddresses === undefined) {
    throw wider('allowedAddresses: the key has none.');
  }
  if (own.quota !== undefined && own.quota.account !== key.quota?.account) {
    throw wider('quota: the key does not draw on the quota of the caller.');
  }
}

/** Returns whether a change of a quota allows more requests. */
export function isWiderQuota(before: KeyQuota | undefined, after: KeyQuota | undefined): boolean {
  if (before === undefined) return false;
  return after === undefined || after.period !== before.period || after.limit > before.limit;
}

/** Requires a change of a quota to be within the quota of the caller. @throws {HostError} `forbidden` */
export function requireQuotaChange(
  own: KeyRestrictions,
  before: KeyQuota | undefined,
  after: KeyQuota | undefined,
): void {
  if (own.quota === undefined || !isWiderQuota(before, after)) return;
  throw wider('quota: a caller with a quota can only lower the limit of another.');
}

/** A count of days and one of months are apart, so a shared one keeps its period. */
function sharedQuota({ account, ...own }: KeyQuota, asked: KeyQuota): KeyQuota {
  if (isWiderQuota(own, asked)) {
    throw wider('quota: must have the period of that of the caller, and not a higher limit.');
  }
  return { limit: asked.limit, period: asked.period, account };
}

/** A lower rate, and no larger burst. */
function isSlower(inner: KeyRateLimit, outer: KeyRateLimit): boolean {
  return inner.limit <= outer.limit && inner.limit * outer.windowSeconds <= outer.limit * inner.windowSeconds;
}

function wider(problem: string): HostError<'forbidden'> {
  const message = `${problem} A caller gives only authority that it holds.`;
  return new HostError('forbidden', message, { details: undefined });
}

function isInside(block: string, outer: readonly Cidr[]): boolean {
  const inner = parseCidr(block);
  return inner !== undefined && outer.some((cidr) => cidr.bits <= inner.bits && inCidr(inner.base, cidr));
}

/**
 * Returns the fault of a block of client addresses; undefined for a good one. A block of IPv6 has a prefix of 64 bits at most.
 *
 * @example
 * addressBlockProblem('192.0.2.0/24'); // undefined
 * addressBlockProblem('192.0.2.1/24'); // 'must be a block of addresses such as …'
 */
export function addressBlockProblem(block: string): string | undefined {
  const cidr = parseCidr(block);
  if (cidr === undefined) return 'must be a block of addresses such as 192.0.2.0/24 or 2001:db8::/32';
  if (block.includes(':') && cidr.bits > CLIENT_BITS)
    return `must have a prefix of ${CLIENT_BITS} bits at most, because one client has a whole block of this size`;
  return undefined;
}

const CLIENT_BITS = 64;
