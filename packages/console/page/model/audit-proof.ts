import type { AuditEntry, Json } from '../data/shapes.ts';
import { isObject } from './timeline.ts';

/** The size and the root of a tree of entries. The root is in lower-case hexadecimal. */
export interface TreeHead {
  readonly treeSize: number;
  readonly rootHash: string;
}

/**
 * Returns the canonical text of a JSON value, for hashing.
 *
 * @throws {TypeError} for a text with half of a surrogate pair
 * @see RFC 8785
 */
export function canonicalJson(value: Json): string {
  if (typeof value === 'string' && /\p{Cs}/u.test(value)) throw new TypeError('A text has half of a surrogate pair.');
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${canonicalJson(name)}:${canonicalJson(value[name] ?? null)}`);
  return `{${members.join(',')}}`;
}

/** Computes the hash of an entry from its content. */
export function entryHash(entry: AuditEntry): Promise<string> {
  const { atSequence, action, actor, target, occurredAt, details, prevHash } = entry;
  const text = canonicalJson({ action, actor, atSequence, details, occurredAt, prevHash, target });
  return sha256(new TextEncoder().encode(text));
}

/** Returns SHA-256 in lower-case hexadecimal. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

/** Verifies that a tree contains an entry, given by its hash. @see RFC 9162, section 2.1.3.2 */
export async function verifyInclusion(
  hash: string,
  index: number,
  { treeSize, rootHash }: TreeHead,
  proof: readonly string[],
): Promise<boolean> {
  if (!(areSizes(index, treeSize) && index < treeSize && areDigests([hash, rootHash, ...proof]))) return false;
  let [at, last, node] = [index, treeSize - 1, await sha256(bytesOfHex(`00${hash}`))];
  for (const sibling of proof) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      node = await nodeHash(sibling, node);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      node = await nodeHash(node, sibling);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && node === rootHash;
}

/** Verifies that a tree is the beginning of a later one. @see RFC 9162, section 2.1.4.2 */
export async function verifyConsistency(first: TreeHead, second: TreeHead, proof: readonly string[]): Promise<boolean> {
  if (!(areSizes(first.treeSize, second.treeSize) && first.treeSize <= second.treeSize)) return false;
  if (!areDigests([first.rootHash, second.rootHash, ...proof]) || first.treeSize === 0) return false;
  if (first.treeSize === second.treeSize) return proof.length === 0 && first.rootHash === second.rootHash;
  let [at, last] = [first.treeSize - 1, second.treeSize - 1];
  while (at % 2 === 1) [at, last] = [half(at), half(last)];
  const [start, ...hashes] = at === 0 ? [first.rootHash, ...proof] : proof;
  if (start === undefined) return false;
  let [earlier, later] = [start, start];
  for (const hash of hashes) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      [earlier, later] = [await nodeHash(hash, earlier), await nodeHash(hash, later)];
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      later = await nodeHash(later, hash);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && earlier === first.rootHash && later === second.rootHash;
}

/** Returns the bytes of a text of hexadecimal digits. */
export function bytesOfHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}

/** Returns bytes in lower-case hexadecimal. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function nodeHash(left: string, right: string): Promise<string> {
  return sha256(bytesOfHex(`01${left}${right}`));
}

// Sizes go beyond 32 bits, so no bitwise operator is used.
function half(number: number): number {
  return Math.floor(number / 2);
}

function areSizes(...sizes: readonly number[]): boolean {
  return sizes.every((size) => Number.isSafeInteger(size) && size >= 0);
}

function areDigests(texts: readonly string[]): boolean {
  return texts.length <= MOST_HASHES && texts.every((text) => /^[0-9a-f]{64}$/.test(text));
}

const MOST_HASHES = 128;
