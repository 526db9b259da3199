/** The number of a protocol major. */
export type Major = 1 | 2;

export const BOTH: readonly Major[] = [1, 2];

/** The place where a rule is written. */
export interface Rule {
  /** Section of the interface document, such as `Versioning: Paths`. */
  readonly section: string;
  /** Id of the requirement in `docs/requirements.json`. Absent for a rule that is not listed there. */
  readonly requirement?: string;
}
