import { TOKEN_ALGORITHM } from '../interrupts/token.ts';
import type { WorkflowEngine } from '../ports/engine.ts';
import type { ForkMode } from '../ports/runs.ts';
import { FACETS, type Facets } from './families.ts';

/** What a host can do because its engine can. */
export function engineFamilies({ interrupts = [], forks = [] }: WorkflowEngine): Facets {
  const kinds = interrupts.flatMap((kind) => {
    const known = FACETS.interrupts.shape.kinds.element.safeParse(kind);
    return known.success ? [known.data] : [];
  });
  return {
    ...(kinds.length > 0 && { interrupts: { kinds, tokenAlgs: [TOKEN_ALGORITHM] } }),
    ...(forks.length > 0 && { replay: replayOf(forks) }),
  };
}

/** Major 1 says how effects are suppressed; major 2, where they always are, where that is told. */
function replayOf(forks: readonly ForkMode[]): NonNullable<Facets['replay']> {
  return {
    modes: [...forks],
    fork: true,
    sideEffectSuppression: 'recorded-outcome',
    effectSeamsManifest: '/host/effect-seams',
  };
}
