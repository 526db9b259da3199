import { areaOf, type RunnableCheck } from '../check.ts';
import type { Major, RuleSource } from '../rule.ts';
import type { Result } from './result.ts';

/** A part of a whole. */
export interface Share {
  /** Number of those that ran. */
  readonly ran: number;
  /** Number of all. */
  readonly of: number;
}

/**
 * The part of the suite that a run looked at. The whole is every check under each major that the host advertises, also when
 * the run was limited to some of them.
 */
export interface Coverage {
  /** Checks, counted once for each major. */
  readonly checks: Share;
  /** Requirements that checks name. A requirement counts as looked at when one of its checks ran. */
  readonly requirements: Share;
  /** Checks by the area of their id. */
  readonly areas: Readonly<Record<string, Share>>;
  /** Checks by the source of their rule. */
  readonly sources: Readonly<Record<RuleSource, SourceShare>>;
}

/** The results of the checks whose rules have one source. */
export interface SourceShare extends Share {
  /** Number of results with the outcome `failed`. */
  readonly failed: number;
  /** Number of results with the outcome `warned`. */
  readonly warned: number;
}

/** Computes the coverage of a run. `majors` are those that the host advertises; none counts as both. */
export function coverageOf(
  results: readonly Result[],
  checks: readonly RunnableCheck[],
  majors: readonly Major[],
): Coverage {
  const whole = checks.flatMap((check) =>
    check.majors.filter((major) => majors.length === 0 || majors.includes(major)).map(() => check),
  );
  const ran = results.filter(({ outcome }) => outcome !== 'skipped');
  const share = (isOfPart: (one: Pick<RunnableCheck, 'id' | 'rule'>) => boolean): Share => ({
    ran: ran.filter(isOfPart).length,
    of: whole.filter(isOfPart).length,
  });
  const sourceShare = (source: RuleSource): SourceShare => {
    const isOfSource = ({ rule }: Pick<RunnableCheck, 'rule'>) => rule.source === source;
    const count = (outcome: Result['outcome']) =>
      ran.filter((result) => result.outcome === outcome && isOfSource(result)).length;
    return { ...share(isOfSource), failed: count('failed'), warned: count('warned') };
  };
  return {
    checks: share(() => true),
    requirements: { ran: requirementsOf(ran).size, of: requirementsOf(whole).size },
    areas: Object.fromEntries(
      [...new Set(whole.map(areaOf))].map((area) => [area, share((one) => areaOf(one) === area)]),
    ),
    sources: {
      interface: sourceShare('interface'),
      ruling: sourceShare('ruling'),
      fact: sourceShare('fact'),
      own: sourceShare('own'),
    },
  };
}

function requirementsOf(some: readonly Pick<RunnableCheck, 'rule'>[]): ReadonlySet<string> {
  return new Set(some.flatMap(({ rule }) => rule.requirement ?? []));
}
