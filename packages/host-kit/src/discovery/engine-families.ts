import { TOKEN_ALGORITHM } from '../interrupts/token.ts';
import type { WorkflowEngine } from '../ports/engine.ts';
import type { ForkMode } from '../ports/runs.ts';
import { FACETS, type Facets } from './families.ts';

/** Returns the families that a host serves because its engine supports them. */
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

/** Major 1 names the suppression mode. Major 2 always suppresses effects, so it only gives the URL of the manifest. */
function replayOf(forks: readonly ForkMode[]): NonNullable<Facets['replay']> {
  return {
    modes: [...forks],
    fork: true,
    sideEffectSuppression: 'recorded-outcome',
    effectSeamsManifest: '/host/effect-seams',
  };
}
