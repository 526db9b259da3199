import { bytesOfHex, bytesToBase64 } from '../audit/encoding.ts';
import { cosignaturesOf, isWitnessKey, type NoteKey } from './note.ts';

/** A request for a cosignature. */
export interface CosignRequest {
  /** The signed note of the new head. */
  readonly note: string;
  /** The size of the tree that the witness cosigned last; 0 when that is not known. */
  readonly oldSize: number;
  /** The consistency proof from `oldSize` to the new head, in hexadecimal; empty for 0. */
  readonly proof: readonly string[];
}

/**
 * The answer of a witness. `cosigned`: the lines to append to the note. `other-size`: the witness cosigned a tree of
 * another size last, and needs a proof from it. `inconsistent`: the new head does not continue the one that the witness
 * has cosigned.
 */
export type WitnessAnswer =
  | { readonly kind: 'cosigned'; readonly lines: string }
  | { readonly kind: 'other-size'; readonly size: number }
  | { readonly kind: 'inconsistent' };

/** Cosigns the heads of a log, and remembers the last one: a party that the owner of the log cannot make forget. */
export interface CheckpointWitness {
  /**
   * Asks for a cosignature.
   *
   * @throws when the witness cannot be reached, does not know the log, or answers with anything else
   */
  cosign(request: CosignRequest, signal: AbortSignal): Promise<WitnessAnswer>;
}

/** The options of `witness`. */
export interface WitnessOptions {
  /** The submission prefix of the witness, e.g. `https://witness.example.com`. `/add-checkpoint` is appended. */
  readonly url: string;
  /** The key of the witness, `<name>+<key id>+<base64>`, of the type Ed25519 cosignature (4). */
  readonly key: NoteKey;
  /** Makes the request. Pass a guarded fetch, so that the address cannot be one of the internal network. */
  readonly fetch: WitnessFetch;
}

/** The part of `fetch` that a witness needs. */
export type WitnessFetch = (
  url: string,
  init: {
    readonly method: 'POST';
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

/**
 * Makes a client of a witness of transparency logs.
 *
 * @throws {TypeError} when `url` is not an http(s) URL, or `key` is not the key of a witness
 * @example
 * const cosigner = witness({ url: 'https://witness.example.com', key: witnessKey, fetch: guardedFetch({ policy }) });
 * @see C2SP tlog-witness, add-checkpoint
 */
export function witness({ url, key, fetch }: WitnessOptions): CheckpointWitness {
  if (!isHttpUrl(url))
    throw new TypeError('witness: url must be an http(s) URL. Pass the submission prefix of the witness.');
  if (!isWitnessKey(key))
    throw new TypeError('witness: key must be the key of a witness. Copy `<name>+<key id>+<base64>` from its owner.');
  const address = `${url.replace(/\/+$/, '')}/add-checkpoint`;
  return {
    async cosign({ note, oldSize, proof }, signal) {
      const lines = proof.map((hash) => `${bytesToBase64(bytesOfHex(hash))}\n`).join('');
      const response = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body: `old ${oldSize}\n${lines}\n${note}`,
        signal,
      });
      const text = await boundedText(response);
      if (response.status === 200) return cosignedBy(key, note, text);
      if (response.status === 422) return { kind: 'inconsistent' };
      if (response.status === 409) return conflict(text, oldSize);
      throw new Error(REFUSALS[response.status] ?? `witness: the witness answered with the status ${response.status}.`);
    },
  };
}

const REFUSALS: Readonly<Record<number, string>> = {
  403: 'witness: the witness trusts no key that signed the note. Give it the note key of this log.',
  404: 'witness: the witness does not know this log. Register its origin and its note key at the witness.',
};

async function cosignedBy(key: NoteKey, note: string, text: string): Promise<WitnessAnswer> {
  const lines = (await cosignaturesOf(note, text, key)).map(({ line }) => line).join('');
  if (lines === '') throw new Error('witness: the answer has no valid cosignature by the key of the witness.');
  return { kind: 'cosigned', lines };
}

/** A conflict at the size that the request named says that the witness has cosigned another root of that size. */
function conflict(text: string, oldSize: number): WitnessAnswer {
  if (!/^(?:0|[1-9][0-9]{0,15})\n?$/.test(text))
    throw new Error('witness: the witness answered 409 without the size of its last head.');
  const size = Number(text);
  return size === oldSize ? { kind: 'inconsistent' } : { kind: 'other-size', size };
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** Reads an answer of at most 16 KiB. */
async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  const reader = response.body?.getReader();
  for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
    text += decoder.decode(read.value, { stream: true });
    if (text.length > MAX_ANSWER) {
      await reader?.cancel();
      throw new Error('witness: the answer of the witness is longer than 16 KiB.');
    }
  }
  return text + decoder.decode();
}

const MAX_ANSWER = 16_384;
