import { BOTH, type Major, type Rule } from './rule.ts';
import type { Target } from './target.ts';
import type { World } from './world.ts';

/** One rule of the protocol, with the function that tests it against a host. */
export interface Check {
  /** Stable id, `<area>.<rule>`. */
  readonly id: string;
  /** One sentence that says what a conforming host does. */
  readonly name: string;
  /** Level of the rule, as in RFC 2119. A `SHOULD` that the host does not follow is a warning. */
  readonly level: 'MUST' | 'SHOULD';
  /** The place where the rule is written. */
  readonly rule: Rule;
  /** Majors that have the rule. The check runs once under each of them that the host advertises. */
  readonly majors: readonly Major[];
  /** Preconditions: capabilities of the host, and options of the suite. The check is skipped when one is not met. */
  readonly needs: readonly Need[];
  /**
   * Tests the host. Called by `runConformance`, which cleans up after it.
   *
   * @throws {Mismatch} when the host breaks the rule
   * @throws {Inapplicable} when the check finds that it cannot be run; it is then skipped
   */
  readonly run: (world: World) => Promise<void>;
}

/** A precondition of a check under one major. Returns the reason to skip the check, or undefined when it is met. */
export type Need = (target: Target, major: Major) => string | undefined;

/** A check as it is written in `checks/`. Default: a MUST of both majors without preconditions of its own. */
export interface CheckDefinition extends Pick<Check, 'id' | 'name' | 'run'> {
  readonly rule: string | readonly [section: string, requirement: string];
  readonly level?: Check['level'];
  readonly majors?: readonly Major[];
  readonly needs?: readonly Need[];
}

/** Makes the checks of one area. `needs` of the area apply to each of its checks. */
export function area(
  name: string,
  { needs = [] }: { readonly needs?: readonly Need[] },
  definitions: readonly CheckDefinition[],
): readonly Check[] {
  return definitions.map(({ id, rule, level = 'MUST', majors = BOTH, needs: own = [], ...check }) => {
    const [section, requirement] = typeof rule === 'string' ? [rule] : rule;
    return {
      ...check,
      id: `${name}.${id}`,
      level,
      majors,
      needs: [...needs, ...own],
      rule: { section, ...(requirement !== undefined && { requirement }) },
    };
  });
}

/** Returns the part of a check's id before the dot. */
export function areaOf({ id }: Pick<Check, 'id'>): string {
  return id.slice(0, id.indexOf('.'));
}
