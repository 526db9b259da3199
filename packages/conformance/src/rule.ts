/** A protocol major. */
export type Major = 1 | 2;

export const BOTH: readonly Major[] = [1, 2];

/** Where a rule is written. */
export interface Rule {
  /** Of the interface document. */
  readonly section: string;
  /** Of `docs/requirements.json`, where the rule stands there. */
  readonly requirement?: string;
}
