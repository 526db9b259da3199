import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { EgressError } from '../errors.ts';

type Decode = (
  bytes: Uint8Array,
  options: Pick<ZlibOptions, 'maxOutputLength'>,
  callback: (error: Error | null, result: Uint8Array) => void,
) => void;

/** The content encodings. A chain of them is rejected, because each link multiplies the decoded size. */
const CODINGS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', brotliDecompress],
]);

/**
 * Decodes the body of a response, up to its limit.
 *
 * @throws {EgressError} `response_too_large`, `response_encoded` for an unknown encoding, `protocol_error` for invalid
 * data
 */
export function decoded(bytes: Uint8Array, coding: string, maxBytes: number): Promise<Uint8Array> {
  const decode = CODINGS.get(coding);
  if (decode === undefined) return Promise.reject(new EgressError('response_encoded', 'content-encoding'));
  return new Promise((resolve, reject) => {
    decode(bytes, { maxOutputLength: maxBytes }, (error, result) => {
      if (error === null) resolve(result);
      else if ('code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
        reject(new EgressError('response_too_large', 'decoded-bytes'));
      } else reject(new EgressError('protocol_error', 'content-encoding', { cause: error }));
    });
  });
}
