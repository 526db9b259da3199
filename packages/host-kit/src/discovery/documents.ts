import type { Major, Served } from '@svc/versioning';
import { documentV1 } from './document-v1.ts';
import { documentV2 } from './document-v2.ts';
import type { DiscoveryInput } from './input.ts';

/** Builds the document of each major. */
export function discoveryDocuments(
  facts: DiscoveryInput,
  served: Pick<Served, 'contractOf'>,
): Readonly<Record<Major, object>> {
  return { 1: documentV1(facts), 2: documentV2(facts, served.contractOf(2)) };
}
