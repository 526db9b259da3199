import { createHash } from 'node:crypto';
import { matchesEtag } from './conditional.ts';
import type { Call, Reply } from './route.ts';

/** The bytes of a document with their strong entity tag. */
export interface Representation {
  readonly bytes: Uint8Array;
  readonly etag: string;
}

/** Serialises a document as JSON. */
export function representation(document: object): Representation {
  const bytes = new TextEncoder().encode(JSON.stringify(document));
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"` };
}

/** Answers with a public document, or with 304 when the caller has it. */
export function documentReply({ etag, bytes }: Representation, { headers: asked }: Pick<Call, 'headers'>): Reply {
  const headers = { etag, 'cache-control': 'public, max-age=300', vary: 'SVC-Version' };
  if (matchesEtag(asked.get('if-none-match'), etag)) return { status: 304, headers };
  return { status: 200, headers, body: bytes };
}
