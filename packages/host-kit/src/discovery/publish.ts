import { createHash } from 'node:crypto';
import type { Major, Served } from '@svc/versioning';
import { documentV1 } from './document-v1.ts';
import { documentV2 } from './document-v2.ts';
import type { HostFacts } from './facts.ts';

/** Each representation as it is sent, with the strong validator of its bytes. */
export type Published = Readonly<Record<Major, { readonly bytes: Uint8Array; readonly etag: string }>>;

/** Builds both documents once; requests are served from the bytes. */
export function publish(facts: HostFacts, served: Pick<Served, 'contractOf'>): Published {
  return { 1: representation(documentV1(facts)), 2: representation(documentV2(facts, served.contractOf(2))) };
}

function representation(document: object): Published[Major] {
  const bytes = new TextEncoder().encode(JSON.stringify(document));
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"` };
}
