import { TOKEN_ALGORITHM } from '../interrupts/token.ts';
import type { WorkflowEngine } from '../runs/engine.ts';
import { FACETS, type Facets } from './families.ts';

/** What a host can do because its engine can. */
export function engineFamilies({ interrupts = [] }: WorkflowEngine): Facets {
  const kinds = interrupts.flatMap((kind) => {
    const known = FACETS.interrupts.shape.kinds.element.safeParse(kind);
    return known.success ? [known.data] : [];
  });
  return kinds.length === 0 ? {} : { interrupts: { kinds, tokenAlgs: [TOKEN_ALGORITHM] } };
}
