import type { Evidence } from './evidence.ts';
import { arrival } from './rules/arrival.ts';
import { attempts } from './rules/attempts.ts';
import { audit } from './rules/audit.ts';
import { caseOf, type Rule } from './rules/case.ts';
import { deadLetters } from './rules/dead-letters.ts';
import { identity } from './rules/identity.ts';
import { isolation } from './rules/isolation.ts';
import { log } from './rules/log.ts';
import { once } from './rules/once.ts';
import { removal } from './rules/removal.ts';

const unexplained: Rule = (evidence) => evidence.unexplained;

/** The rules that every soak must satisfy, each in a file of its own. */
const RULES = { log, once, arrival, identity, attempts, deadLetters, isolation, removal, audit, unexplained } as const;

export type RuleName = keyof typeof RULES;

/** One violation of a rule, in a sentence. */
export interface Finding {
  readonly rule: RuleName;
  readonly fault: string;
}

/** Returns every violation of a rule. No finding means that every acknowledged run is accounted for. */
export function judge(evidence: Evidence): readonly Finding[] {
  const found = caseOf(evidence);
  return (Object.keys(RULES) as RuleName[]).flatMap((rule) => RULES[rule](found).map((fault) => ({ rule, fault })));
}
