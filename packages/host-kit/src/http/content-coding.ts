import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import type { Answer } from './answer.ts';

/** A content coding of HTTP. */
export type Coding = 'zstd' | 'br' | 'gzip';

export const CODINGS: readonly Coding[] = ['zstd', 'br', 'gzip'];

/** Compresses answers for callers that accept it. */
export interface ContentCodings {
  /**
   * The request headers for handlers, with plain tags in `If-None-Match`. A compressed representation has a tag of its
   * own: the plain tag with the coding appended.
   */
  plainTags(headers: Headers): Headers;
  /**
   * Returns the answer in the coding that the caller prefers. Streams, short bodies and bodies that are not JSON stay
   * plain.
   */
  encode(asked: Headers, answer: Answer): Promise<Answer>;
}

/**
 * @param offered the codings in the host's order of preference, for callers that have none
 * @see RFC 9110, sections 8.8.3.3 and 12.5.3
 */
export function contentCodings(offered: readonly Coding[]): ContentCodings {
  return {
    plainTags(headers) {
      const asked = headers.get('if-none-match');
      if (asked === null || !asked.includes(MARK)) return headers;
      const accepted = acceptedCodings(headers.get('accept-encoding'), offered);
      const plain = tagsIn(asked).map((tag) => {
        const coding = accepted.find((one) => tag.endsWith(suffixOf(one)));
        return coding === undefined ? tag : `${tag.slice(0, -suffixOf(coding).length)}"`;
      });
      const changed = new Headers(headers);
      changed.set('if-none-match', plain.join(', '));
      return changed;
    },
    async encode(asked, answer) {
      if (offered.length === 0) return answer;
      if (answer.status === 304) return notModified(asked, answer, offered);
      const body = wholeJson(answer);
      if (body === undefined) return answer;
      const varying = { ...answer, headers: varied(answer.headers) };
      const [best] = acceptedCodings(asked.get('accept-encoding'), offered);
      if (best === undefined) return varying;
      const coded = await codedBody(body, best);
      if (coded.length >= lengthOf(body)) return varying;
      const { etag } = answer.headers;
      return {
        status: answer.status,
        headers: {
          ...varying.headers,
          'content-encoding': best,
          ...(etag !== undefined && { etag: codedTag(etag, best) }),
        },
        body: coded,
      };
    },
  };
}

/** Shorter bodies fit into one packet, so compressing them saves nothing. */
const SHORTEST_BYTES = 1024;

function wholeJson({ headers, body }: Answer): string | Uint8Array | undefined {
  if (body === undefined || body instanceof ReadableStream || headers['content-encoding'] !== undefined)
    return undefined;
  if (lengthOf(body) < SHORTEST_BYTES) return undefined;
  return /^application\/(?:json|[a-z0-9.+-]+\+json)\s*(?:;|$)/i.test(headers['content-type'] ?? '') ? body : undefined;
}

/** The length of a text in characters, which is at most its length in bytes. */
function lengthOf(body: string | Uint8Array): number {
  return body.length;
}

function varied(headers: Answer['headers']): Answer['headers'] {
  const { vary } = headers;
  return { ...headers, vary: vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding` };
}

/** Gives a 304 the tag that the caller named, if it is the tag of a coding that the caller accepts. */
function notModified(asked: Headers, answer: Answer, offered: readonly Coding[]): Answer {
  const headers = varied(answer.headers);
  const { etag } = headers;
  const tags = tagsIn(asked.get('if-none-match') ?? '');
  if (etag === undefined || tags.includes(etag)) return { ...answer, headers };
  const accepted = acceptedCodings(asked.get('accept-encoding'), offered);
  const named = accepted.map((coding) => codedTag(etag, coding)).find((tag) => tags.includes(tag));
  return { ...answer, headers: named === undefined ? headers : { ...headers, etag: named } };
}

function tagsIn(header: string): readonly string[] {
  return header.split(',').map((tag) => tag.trim());
}

/** Separates a plain tag from the name of the coding. No plain tag contains it. */
const MARK = '~';

function suffixOf(coding: Coding): string {
  return `${MARK}${coding}"`;
}

function codedTag(etag: string, coding: Coding): string {
  return etag.startsWith('W/') ? etag : `${etag.slice(0, -1)}${suffixOf(coding)}`;
}

/**
 * Returns the offered codings that an `Accept-Encoding` accepts, best first. A plain body is always acceptable, even
 * where the header refuses it: a plain answer is better than none.
 */
export function acceptedCodings(header: string | null, offered: readonly Coding[]): readonly Coding[] {
  if (header === null || header === '') return [];
  const qualities = new Map<string, number>();
  for (const member of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = member.split(';').map((part) => part.trim());
    qualities.set(name === 'x-gzip' ? 'gzip' : name, qualityIn(parameters));
  }
  const quality = (coding: Coding) => qualities.get(coding) ?? qualities.get('*') ?? 0;
  const identity = qualities.get('identity') ?? 0;
  return offered
    .filter((coding) => quality(coding) > 0 && quality(coding) >= identity)
    .sort((one, other) => quality(other) - quality(one));
}

/** Returns the quality of a member. Default 1; a malformed one is 0. */
function qualityIn(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  if (weight === undefined) return parameters.length === 0 ? 1 : 0;
  return /^q=(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight.slice(2)) : 0;
}

/** Compresses outside of the event loop. A document that is sent again and again is compressed once. */
function codedBody(body: string | Uint8Array, coding: Coding): Promise<Uint8Array> {
  if (typeof body === 'string') return CODE[coding](Buffer.from(body));
  const known = documents.get(body) ?? new Map<Coding, Promise<Uint8Array>>();
  documents.set(body, known);
  const coded = known.get(coding) ?? CODE[coding](body);
  known.set(coding, coded);
  return coded;
}

const documents = new WeakMap<Uint8Array, Map<Coding, Promise<Uint8Array>>>();

const inGzip = promisify(gzip);
const inBrotli = promisify(brotliCompress);
const inZstd = promisify(zstdCompress);

const CODE: Readonly<Record<Coding, (body: Uint8Array) => Promise<Uint8Array>>> = {
  gzip: (body) => inGzip(body),
  // The default quality, 11, is too slow for answers that are compressed on request.
  br: (body) => inBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (body) => inZstd(body),
};
