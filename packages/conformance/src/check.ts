import { BOTH, type Major, type Rule } from './rule.ts';
import type { Target } from './target.ts';
import type { World } from './world.ts';

/** One rule of the protocol, and how a host is asked whether it keeps it. */
export interface Check {
  /** Stable: `<area>.<rule>`. */
  readonly id: string;
  /** What a host that keeps the rule does, as a sentence. */
  readonly name: string;
  /** A `SHOULD` that is not kept is a warning. */
  readonly level: 'MUST' | 'SHOULD';
  readonly rule: Rule;
  /** The majors that have the rule. It is asked once under each of them that the host advertises. */
  readonly majors: readonly Major[];
  /** What the host must advertise or the user must give. Without one of them the check is skipped. */
  readonly needs: readonly Need[];
  /** @throws {Mismatch} when the host does not keep the rule */
  readonly run: (world: World) => Promise<void>;
}

/** Whether a check can be run under a major: the reason why not, or nothing. */
export type Need = (target: Target, major: Major) => string | undefined;

/** A check as it is written: a MUST of both majors, unless it says otherwise. */
export interface CheckDefinition extends Pick<Check, 'id' | 'name' | 'run'> {
  readonly rule: string | readonly [section: string, requirement: string];
  readonly level?: Check['level'];
  readonly majors?: readonly Major[];
  readonly needs?: readonly Need[];
}

/** The checks of one area. An area's needs are those of each of its checks. */
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

/** What stands before the dot of an id. */
export function areaOf({ id }: Pick<Check, 'id'>): string {
  return id.slice(0, id.indexOf('.'));
}
