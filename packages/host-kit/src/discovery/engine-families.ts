import { TOKEN_ALGORITHM } from '../interrupts/token.ts';
import type { ApproverDirectory } from '../ports/approvers.ts';
import type { WorkflowEngine } from '../ports/engine.ts';
import type { ForkMode } from '../ports/runs.ts';
import { FACETS, type Facets } from './families.ts';

/**
 * Returns the families that a host serves because its engine supports them.
 *
 * @param approvers resolves groups and roles of approvers; undefined: the host has no directory of them
 * @param runDays for so many days after its end a run can be forked; undefined: for ever
 */
export function engineFamilies(
  { interrupts = [], forks = [], compensation: ordering }: WorkflowEngine,
  approvers?: ApproverDirectory,
  runDays?: number,
): Facets {
  const kinds = interrupts.flatMap((kind) => {
    const known = FACETS.interrupts.shape.kinds.element.safeParse(kind);
    return known.success ? [known.data] : [];
  });
  const refKinds = kinds.includes('approval') ? { refKinds: refKindsOf(approvers) } : {};
  return {
    ...(kinds.length > 0 && { interrupts: { kinds, tokenAlgs: [TOKEN_ALGORITHM], ...refKinds } }),
    ...(ordering !== undefined && { compensation: { ordering } }),
    ...(forks.length > 0 && { replay: replayOf(forks, runDays) }),
  };
}

/** The ways in which an approval can name its approvers. */
function refKindsOf({ groupsOf, rolesOf }: ApproverDirectory = {}): ('principal' | 'group' | 'role')[] {
  return [
    'principal',
    ...(groupsOf === undefined ? [] : (['group'] as const)),
    ...(rolesOf === undefined ? [] : (['role'] as const)),
  ];
}

/** Major 1 names the suppression mode. Major 2 always suppresses effects, so it only gives the URL of the manifest. */
function replayOf(forks: readonly ForkMode[], runDays: number | undefined): NonNullable<Facets['replay']> {
  return {
    modes: [...forks],
    fork: true,
    sideEffectSuppression: 'recorded-outcome',
    ...(runDays !== undefined && { retention: { days: runDays } }),
    effectSeamsManifest: '/host/effect-seams',
  };
}
