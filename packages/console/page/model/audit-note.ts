import { hexOf, sha256, type TreeHead } from './audit-proof.ts';

/** The head of a log as its note states it. */
export interface NotedHead extends TreeHead {
  readonly origin: string;
}

/**
 * Reads the head of a signed note.
 *
 * @param publicKey the Ed25519 key of the log, in base64 (SPKI)
 * @returns undefined when the note is malformed, or when the key has not signed it
 * @throws when the browser has no Ed25519
 * @see C2SP tlog-checkpoint and signed-note
 */
export async function openNote(note: string, publicKey: string): Promise<NotedHead | undefined> {
  const end = note.length > LONGEST ? -1 : note.lastIndexOf('\n\n');
  const key = bytesIn(publicKey);
  if (end === -1 || key === undefined || key.length !== 44 || hexOf(key.slice(0, 12)) !== SPKI_PREFIX) return undefined;
  const text = note.slice(0, end + 1);
  const head = headIn(text);
  if (head === undefined) return undefined;
  const raw = key.slice(12);
  const name = new TextEncoder().encode(head.origin);
  const keyId = (await sha256(new Uint8Array([...name, 0x0a, ED25519, ...raw]))).slice(0, 8);
  const imported = await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify']);
  for (const line of note
    .slice(end + 2)
    .split('\n')
    .slice(0, MOST_SIGNATURES)) {
    const [, signer, base64] = /^\u2014 ([^\s+]{1,255}) (\S{4,12288})$/.exec(line) ?? [];
    const bytes = signer === head.origin ? bytesIn(base64 ?? '') : undefined;
    if (bytes === undefined || bytes.length !== 68 || hexOf(bytes.slice(0, 4)) !== keyId) continue;
    if (await crypto.subtle.verify('Ed25519', imported, bytes.slice(4), new TextEncoder().encode(text))) return head;
  }
  return undefined;
}

const LONGEST = 16_384;
const MOST_SIGNATURES = 64;
const ED25519 = 0x01;
const SPKI_PREFIX = '302a300506032b6570032100';

function headIn(text: string): NotedHead | undefined {
  const [origin = '', size = '', root = ''] = text.split('\n');
  const bytes = /^[A-Za-z0-9+/]{43}=$/.test(root) ? bytesIn(root) : undefined;
  if (!/^[\x21-\x2a\x2c-\x7e]{1,255}$/.test(origin) || !/^(?:0|[1-9][0-9]{0,14})$/.test(size) || bytes?.length !== 32) {
    return undefined;
  }
  return { origin, treeSize: Number(size), rootHash: hexOf(bytes) };
}

function bytesIn(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
