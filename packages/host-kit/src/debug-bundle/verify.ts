import { type CanonicalValue, canonicalJson } from '@svc/auth/audit';
import { DEBUG_BUNDLE_VERSION, type DebugBundle, MOST_BUNDLE_BYTES, type SigningKey, signedBytes } from './format.ts';

/**
 * A reason to reject a bundle.
 *
 * - `too-large`: it has more than `MOST_BUNDLE_BYTES`
 * - `malformed`: it is cut off, or is not the canonical JSON that a host writes
 * - `unsupported-version`: it is no debug bundle of `bundleVersion` 2
 * - `unknown-key`: none of the keys has its `keyId`
 * - `retired-key`: the key was retired before the bundle was made
 * - `signature-invalid`: it was changed, or signed with another key
 */
export type BundleFault =
  | 'too-large'
  | 'malformed'
  | 'unsupported-version'
  | 'unknown-key'
  | 'retired-key'
  | 'signature-invalid';

/** The result of {@link verifyDebugBundle}. */
export type BundleVerdict =
  | { readonly ok: true; readonly bundle: DebugBundle }
  | {
      readonly ok: false;
      readonly fault: BundleFault;
      /** A sentence for people. */
      readonly problem: string;
    };

/**
 * Verifies a debug bundle. Every byte counts: a bundle that was formatted, cut off or changed is rejected.
 *
 * @param bytes the bundle as the host sent it
 * @param keys the keys of the host that is trusted: `signingKeys` of its discovery document
 * @example
 * const { signingKeys } = await (await fetch('https://svc.example.com/.well-known/svc')).json();
 * const verdict = await verifyDebugBundle(await readFile('bundle.json'), signingKeys);
 * if (verdict.ok) console.log(verdict.bundle.run);
 */
export async function verifyDebugBundle(bytes: Uint8Array, keys: readonly SigningKey[]): Promise<BundleVerdict> {
  if (bytes.length > MOST_BUNDLE_BYTES) return rejected('too-large', `has more than ${MOST_BUNDLE_BYTES} bytes`);
  const parsed = parse(bytes);
  if (parsed === undefined) return rejected('malformed', 'is not JSON. It may be cut off');
  const { bundleVersion, kind } = parsed;
  if (bundleVersion !== DEBUG_BUNDLE_VERSION || kind !== 'debug')
    return rejected('unsupported-version', `is no debug bundle of version ${DEBUG_BUNDLE_VERSION}`);
  const bundle = bundleOf(parsed);
  const canonical = bundle && canonicalText(parsed);
  if (canonical === undefined || !sameBytes(canonical, bytes) || bundle === undefined)
    return rejected('malformed', 'is not as a host writes it. It was formatted or changed');
  const { signature, ...unsigned } = parsed;
  const { keyId, value } = bundle.signature;
  const key = keys.find((each) => each.keyId === keyId && each.alg === 'ed25519');
  if (key === undefined) return rejected('unknown-key', 'is signed with a key that is not among the given ones');
  const content = canonicalText(unsigned);
  if (content === undefined || !(await isSigned(key, value, content)))
    return rejected('signature-invalid', 'was changed, or signed with another key');
  if (key.retiredAt !== undefined && !(Date.parse(bundle.createdAt) < Date.parse(key.retiredAt)))
    return rejected('retired-key', 'was made after its key was retired');
  return { ok: true, bundle };
}

function rejected(fault: BundleFault, problem: string): BundleVerdict {
  return { ok: false, fault, problem: `The bundle ${problem}.` };
}

type Parsed = { readonly [name: string]: CanonicalValue };

function parse(bytes: Uint8Array): Parsed | undefined {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Parsed {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined for a value that has no canonical form, or is nested too deeply to be written. */
function canonicalText(value: CanonicalValue): string | undefined {
  try {
    return canonicalJson(value);
  } catch {
    return undefined;
  }
}

/** The names of the members, and whether each is of the kind that the format demands. */
const MEMBERS: Readonly<Record<Exclude<keyof DebugBundle, 'signature'>, (value: unknown) => boolean>> = {
  bundleVersion: (value) => typeof value === 'string',
  kind: (value) => value === 'debug',
  bundleId: (value) => typeof value === 'string',
  createdAt: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  host: isRecord,
  major: (value) => value === 1 || value === 2,
  run: isRecord,
  log: isRecord,
  deliveries: (value) => value === undefined || isRecord(value),
  decisions: (value) => value === undefined || isRecord(value),
  omitted: Array.isArray,
  redactions: (value) => Number.isInteger(value),
};

function bundleOf(parsed: Parsed): DebugBundle | undefined {
  const { signature } = parsed;
  if (!isRecord(signature) || signature.alg !== 'ed25519') return undefined;
  if (typeof signature.keyId !== 'string' || typeof signature.value !== 'string') return undefined;
  return isBundle(parsed) ? parsed : undefined;
}

function isBundle(parsed: object): parsed is DebugBundle {
  return Object.entries(MEMBERS).every(([name, fits]) => fits(Reflect.get(parsed, name)));
}

function sameBytes(text: string, bytes: Uint8Array): boolean {
  const written = new TextEncoder().encode(text);
  return written.length === bytes.length && written.every((byte, index) => byte === bytes[index]);
}

async function isSigned({ publicKey }: SigningKey, value: string, content: string): Promise<boolean> {
  const [key, signature] = [bytesOf(publicKey, 32), bytesOf(value, 64)];
  if (key === undefined || signature === undefined) return false;
  try {
    const imported = await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']);
    return await crypto.subtle.verify('Ed25519', imported, signature, signedBytes(content));
  } catch {
    return false;
  }
}

/** Decodes base64url of some length; undefined for another text, and for one with other spare bits. */
function bytesOf(text: string, length: number): Uint8Array<ArrayBuffer> | undefined {
  if (typeof text !== 'string' || text.length !== Math.ceil((length * 4) / 3) || !/^[A-Za-z0-9_-]+$/.test(text))
    return undefined;
  const base64 = text.replaceAll('-', '+').replaceAll('_', '/');
  const binary = atob(base64);
  const isExact = btoa(binary).startsWith(base64) && binary.length === length;
  return isExact ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : undefined;
}
