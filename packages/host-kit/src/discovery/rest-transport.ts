import type { HostFacts } from './facts.ts';
import type { Facets } from './families.ts';

/** What both documents say of the way over HTTP. */
export function restTransportOf({ contentEncodings }: HostFacts): NonNullable<Facets['restTransport']> {
  return { conditionalRunGet: true, ...(contentEncodings.length > 0 && { contentEncodings: [...contentEncodings] }) };
}
