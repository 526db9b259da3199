import { sha256 } from '#sha256';
import type { CheckpointSigner } from '../audit/checkpoint.ts';
import { base64ToBytes, bytesOfHex, bytesToBase64 } from '../audit/encoding.ts';
import { isSize, type TreeHead } from './tree.ts';

/** A key that verifies signatures of notes, as text: `<name>+<key id>+<base64>`. */
export type NoteKey = string;

/** The head of a log as its signer states it. */
export interface LogHead extends TreeHead {
  /** The unique name of the log. */
  readonly origin: string;
}

/**
 * Signs the head of a log as a note, the checkpoint format of transparency logs. The name of the key is the origin.
 *
 * The signer of checkpoints can sign it with the same key: a checkpoint is a signature of exactly 32 bytes, and the text of
 * a note always has more.
 *
 * @throws {TypeError} when the origin is empty, or has a space, a plus or a control character
 * @example
 * const note = await signedHead({ origin: 'svc.example.com/audit', ...tree.head() }, signer);
 * @see C2SP tlog-checkpoint and signed-note
 */
export async function signedHead(head: LogHead, signer: CheckpointSigner): Promise<string> {
  const text = headText(head);
  const signature = await signer.sign(UTF_8.encode(text));
  return `${text}\n${signatureLine(head.origin, keyIdOf(head.origin, ED25519, rawKey(signer.publicKey)), signature)}`;
}

/**
 * Reads the head of a note that one of the keys has signed.
 *
 * @returns undefined when the note is malformed, or when no key has signed it
 * @example
 * const head = await openHead(note, [noteKey('svc.example.com/audit', checkpointPublicKey)]);
 */
export async function openHead(note: string, keys: readonly NoteKey[]): Promise<LogHead | undefined> {
  const parts = partsOf(note);
  const head = parts && headOf(parts.text);
  if (parts === undefined || head === undefined) return undefined;
  for (const text of keys) {
    const key = parsedKey(text);
    if (key.type !== ED25519 || key.name !== head.origin) continue;
    for (const { name, keyId, signature } of parts.signatures) {
      if (name !== key.name || keyId !== key.keyId || signature.length !== 64) continue;
      if (await verified(key.publicKey, signature, UTF_8.encode(parts.text))) return head;
    }
  }
  return undefined;
}

/**
 * Returns the cosignatures of a witness among signature lines, as lines that can be appended to the note.
 *
 * @param lines the answer of the witness
 * @returns the lines whose signature is valid for the note, with the time of each in seconds since the epoch
 * @example
 * const cosigned = note + (await cosignaturesOf(note, answer, witnessKey)).map(({ line }) => line).join('');
 * @see C2SP tlog-cosignature, cosignature/v1
 */
export async function cosignaturesOf(
  note: string,
  lines: string,
  witnessKey: NoteKey,
): Promise<readonly { readonly line: string; readonly time: number }[]> {
  const text = partsOf(note)?.text;
  const key = parsedKey(witnessKey);
  if (text === undefined || key.type !== COSIGNATURE) return [];
  const found: { line: string; time: number }[] = [];
  for (const { name, keyId, signature } of signaturesIn(lines) ?? []) {
    if (name !== key.name || keyId !== key.keyId || signature.length !== 72) continue;
    const time = Number(new DataView(signature.buffer, signature.byteOffset).getBigUint64(0));
    const message = UTF_8.encode(`cosignature/v1\ntime ${time}\n${text}`);
    if (!Number.isSafeInteger(time) || !(await verified(key.publicKey, signature.subarray(8), message))) continue;
    found.push({ line: signatureLine(name, keyId, signature), time });
  }
  return found;
}

/**
 * Makes the key that verifies the notes of a log.
 *
 * @param publicKey `checkpointPublicKey` of the host, in base64 (SPKI)
 * @example
 * noteKey('svc.example.com/audit', signer.publicKey); // 'svc.example.com/audit+1a2b3c4d+AR…'
 */
export function noteKey(origin: string, publicKey: string): NoteKey {
  const raw = rawKey(publicKey);
  return `${checkedOrigin(origin)}+${keyIdOf(origin, ED25519, raw)}+${bytesToBase64(new Uint8Array([ED25519, ...raw]))}`;
}

/**
 * Returns the origin of a note, before any key is known. It proves nothing.
 *
 * @returns undefined for a malformed note
 * @example
 * const keys = [noteKey(originOf(note) ?? '', checkpointPublicKey)];
 */
export function originOf(note: string): string | undefined {
  const parts = partsOf(note);
  return parts && headOf(parts.text)?.origin;
}

/**
 * Returns whether a text is the key of a witness: of the type Ed25519 cosignature (4).
 *
 * @example
 * if (!isWitnessKey(text)) console.error('Copy the key from the owner of the witness.');
 */
export function isWitnessKey(text: string): boolean {
  try {
    return parsedKey(text).type === COSIGNATURE;
  } catch {
    return false;
  }
}

/**
 * Returns an origin that a note can have.
 *
 * @throws {TypeError} when the origin is empty, or has a space, a plus or a control character
 * @example
 * const origin = checkedOrigin('svc.example.com/audit');
 */
export function checkedOrigin(origin: string): string {
  if (!ORIGIN.test(origin))
    throw new TypeError(
      'audit origin: must have 1 to 255 visible ASCII characters without plus. Pass a URL without scheme, e.g. svc.example.com/audit.',
    );
  return origin;
}

const ORIGIN = /^[\x21-\x2a\x2c-\x7e]{1,255}$/;

/** Types of signatures. @see C2SP signed-note and tlog-cosignature */
const ED25519 = 0x01;
const COSIGNATURE = 0x04;

const UTF_8 = new TextEncoder();
const MAX_NOTE = 16_384;
const MAX_SIGNATURES = 64;

function headText({ origin, treeSize, rootHash }: LogHead): string {
  return `${checkedOrigin(origin)}\n${treeSize}\n${bytesToBase64(bytesOfHex(rootHash))}\n`;
}

/** Further lines of the text are extensions: they are signed, and have no meaning here. */
function headOf(text: string): LogHead | undefined {
  const [origin = '', size = '', root = ''] = text.split('\n');
  if (!ORIGIN.test(origin) || !/^(?:0|[1-9][0-9]{0,15})$/.test(size) || !/^[A-Za-z0-9+/]{43}=$/.test(root))
    return undefined;
  const treeSize = Number(size);
  const bytes = base64ToBytes(root);
  // Bits after the last byte would let one root have several texts.
  if (!isSize(treeSize) || bytesToBase64(bytes) !== root) return undefined;
  return { origin, treeSize, rootHash: hexOf(bytes) };
}

interface NoteSignature {
  readonly name: string;
  /** Eight hexadecimal digits. */
  readonly keyId: string;
  readonly signature: Uint8Array;
}

function partsOf(note: string): { readonly text: string; readonly signatures: readonly NoteSignature[] } | undefined {
  const end = note.length > MAX_NOTE ? -1 : note.lastIndexOf('\n\n');
  const signatures = end === -1 ? undefined : signaturesIn(note.slice(end + 2));
  return signatures && { text: note.slice(0, end + 1), signatures };
}

function signaturesIn(lines: string): readonly NoteSignature[] | undefined {
  if (lines.length > MAX_NOTE || !lines.endsWith('\n')) return undefined;
  const found: NoteSignature[] = [];
  for (const line of lines.slice(0, -1).split('\n')) {
    const [, name, base64] = SIGNATURE.exec(line) ?? [];
    const bytes = base64 === undefined ? undefined : bytesIn(base64);
    if (name === undefined || bytes === undefined || bytes.length < 5) return undefined;
    found.push({ name, keyId: hexOf(bytes.subarray(0, 4)), signature: bytes.slice(4) });
  }
  return found.length > MAX_SIGNATURES ? undefined : found;
}

const SIGNATURE = /^\u2014 ([^\s+]{1,255}) ([A-Za-z0-9+/]{4,12288}={0,2})$/;

function bytesIn(base64: string): Uint8Array | undefined {
  try {
    return base64ToBytes(base64);
  } catch {
    return undefined;
  }
}

function signatureLine(name: string, keyId: string, signature: Uint8Array): string {
  return `\u2014 ${name} ${bytesToBase64(new Uint8Array([...bytesOfHex(keyId), ...signature]))}\n`;
}

function parsedKey(key: NoteKey) {
  const [, name, keyId, base64] = /^([^\s+]{1,255})\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/.exec(key) ?? [];
  if (name === undefined || keyId === undefined || base64 === undefined) throw new TypeError(NO_KEY);
  const [type = 0, ...raw] = base64ToBytes(base64);
  const publicKey = new Uint8Array(raw);
  if (keyIdOf(name, type, publicKey) !== keyId) throw new TypeError(NO_KEY);
  return { name, keyId, type, publicKey };
}

const NO_KEY = 'note key: must be `<name>+<key id>+<base64>` of a key of 32 bytes. Copy the whole line of its owner.';

function keyIdOf(name: string, type: number, publicKey: Uint8Array): string {
  return sha256(new Uint8Array([...UTF_8.encode(name), 0x0a, type, ...publicKey])).slice(0, 8);
}

/** Returns the last 32 bytes of an Ed25519 key in SPKI. */
function rawKey(publicKey: string): Uint8Array {
  return base64ToBytes(publicKey).slice(-32);
}

async function verified(publicKey: Uint8Array, signature: Uint8Array, bytes: Uint8Array): Promise<boolean> {
  const imported = crypto.subtle.importKey('raw', publicKey.slice(), 'Ed25519', false, ['verify']);
  const key = await imported.catch(() => undefined);
  return key !== undefined && (await crypto.subtle.verify('Ed25519', key, signature.slice(), bytes.slice()));
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
