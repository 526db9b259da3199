/** The number of a protocol major. */
export type Major = 1 | 2;

export const BOTH: readonly Major[] = [1, 2];

/**
 * The authority of a rule, from the strongest to the weakest:
 *
 * - `interface`: the text of the interface.
 * - `ruling`: a decision of this project where that text is silent or contested.
 * - `fact`: the behaviour of other hosts and clients of the protocol.
 * - `own`: a promise of this project, which another host need not make.
 */
export type RuleSource = 'interface' | 'ruling' | 'fact' | 'own';

/** The place where a rule is written. */
export interface Rule {
  /** Section of the interface document, such as `Versioning: Paths`. */
  readonly section: string;
  /** Id of the requirement in `docs/requirements.json`. Absent for a rule that is not listed there. */
  readonly requirement?: string;
  /** Authority of the rule. */
  readonly source: RuleSource;
}
