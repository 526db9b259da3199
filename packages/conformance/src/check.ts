import { BOTH, type Major, type Rule } from './rule.ts';
import { RULE_SOURCES } from './rule-sources.ts';
import type { SkipCause } from './skip-cause.ts';
import type { Target } from './target.ts';
import type { Look } from './witness.ts';
import type { World } from './world.ts';

/** One rule of the protocol that the suite tests. */
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
}

/** A check with the function that tests it against a host. */
export interface RunnableCheck extends Check {
  /** Preconditions: capabilities of the host, and options of the suite. The check is skipped when one is not met. */
  readonly needs: readonly Need[];
  /**
   * Tests the host. Called by `runConformance`, which cleans up after it.
   *
   * @throws {Mismatch} when the host breaks the rule
   * @throws {Inapplicable} when the check finds that it cannot be run; it is then skipped
   */
  readonly run: (world: World) => Promise<void>;
  /** Makes the function that looks at every answer of one run. The check then runs after those without it. */
  readonly watch?: () => Look;
}

/**
 * A precondition of a check under one major. Returns undefined when it is met, otherwise why the check is skipped. A text
 * alone has the cause `host`.
 */
export type Need = (target: Target, major: Major) => Unmet | string | undefined;

/** An unmet precondition. */
export interface Unmet {
  readonly cause: SkipCause;
  /** The reason, as one sentence without a full stop. */
  readonly reason: string;
}

/**
 * A check as it is written in `checks/`. Default: a MUST of both majors without preconditions of its own, which `watch`
 * judges.
 */
export interface CheckDefinition extends Pick<RunnableCheck, 'id' | 'name' | 'watch'> {
  readonly run?: RunnableCheck['run'];
  /** A rule that `docs/requirements.json` does not list names its source itself. */
  readonly rule: readonly [section: string, requirement: keyof typeof RULE_SOURCES] | Pick<Rule, 'section' | 'source'>;
  readonly level?: RunnableCheck['level'];
  readonly majors?: readonly Major[];
  readonly needs?: readonly Need[];
}

/** Makes the checks of one area. `needs` of the area apply to each of its checks. */
export function area(
  name: string,
  { needs = [] }: { readonly needs?: readonly Need[] },
  definitions: readonly CheckDefinition[],
): readonly RunnableCheck[] {
  return definitions.map((definition) => {
    const { id: rest, rule, level = 'MUST', majors = BOTH, needs: own = [], ...check } = definition;
    const id = `${name}.${rest}`;
    return {
      run: async ({ witnessed }) => witnessed(id),
      ...check,
      id,
      level,
      majors,
      needs: [...needs, ...own],
      rule: 'source' in rule ? rule : { section: rule[0], requirement: rule[1], source: RULE_SOURCES[rule[1]] },
    };
  });
}

/** Returns the part of a check's id before the dot. */
export function areaOf({ id }: Pick<RunnableCheck, 'id'>): string {
  return id.slice(0, id.indexOf('.'));
}
