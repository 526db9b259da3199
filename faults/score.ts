import { chance as chanceOf } from '@svc/tools/chance';
import { type Exchange, keyOf } from './exchange.ts';
import { type Mutant, mutant, type Recorded } from './generate.ts';
import { judge } from './judge/judge.ts';
import type { Context } from './judge/sentences.ts';
import { described } from './mutation.ts';

/** A mutant that breaks a sentence, before it is tried. */
export interface Breaking {
  readonly mutant: Mutant;
  readonly requirements: readonly string[];
}

/** Mutants by their judgement. */
export interface Judged {
  readonly breaking: readonly Breaking[];
  /** Mutants that no sentence decides. */
  readonly unjudged: readonly Mutant[];
  /** Number of mutants that change nothing of which the interface speaks. */
  readonly kept: number;
}

/**
 * Derives mutants from recorded exchanges until `count` of them break a sentence. The same seed and recording give the same
 * mutants; no mutant comes twice.
 *
 * @throws {Error} when the recording does not yield that many
 */
export function judged(seed: number, count: number, recorded: readonly Recorded[], context: Context): Judged {
  const chance = chanceOf(seed);
  const exchanges = new Map<string, readonly Exchange[]>(recorded.map((of) => [keyOf(of.kind), of.exchanges]));
  const known = new Set<string>();
  const breaking: Breaking[] = [];
  const unjudged: Mutant[] = [];
  let kept = 0;
  for (let tries = 0; breaking.length < count; tries += 1) {
    if (tries > count * MOST_TRIES)
      throw new Error(`mutants: ${breaking.length} of ${count} break a sentence. Ask for fewer.`);
    const one = mutant(chance, recorded);
    const name = nameOf(one);
    if (known.has(name)) continue;
    known.add(name);
    const verdict = judge(one.mutation, exchanges.get(keyOf(one.kind)) ?? [], context);
    if (verdict.outcome === 'breaks') breaking.push({ mutant: one, requirements: verdict.requirements });
    else if (verdict.outcome === 'unjudged') unjudged.push(one);
    else if (verdict.outcome === 'keeps') kept += 1;
  }
  return { breaking, unjudged, kept };
}

const MOST_TRIES = 50;

/** Describes a mutant in one line. */
export function nameOf({ kind, mutation }: Mutant): string {
  return `${keyOf(kind)}: ${described(mutation)}`;
}

/** A judged mutant with the outcome of its trial. */
export interface Tried extends Breaking {
  /** Checks that found it. */
  readonly found: readonly string[];
}

/** The result of a run. */
export interface Score {
  readonly seed: number;
  readonly breaking: number;
  readonly detected: number;
  /** Detected mutants that the check of the API description alone has found. */
  readonly byDescriptionAlone: number;
  /** Detected mutants, as a share of those that break a sentence. */
  readonly score: number;
  readonly unjudged: number;
  readonly kept: number;
  readonly operations: Readonly<Record<string, { readonly breaking: number; readonly detected: number }>>;
  readonly survivors: readonly { readonly mutant: string; readonly requirements: readonly string[] }[];
  readonly undecided: readonly string[];
}

/** Counts the outcomes. */
export function scoreOf(seed: number, tried: readonly Tried[], { unjudged, kept }: Judged): Score {
  const isDetected = ({ found }: Tried) => found.length > 0;
  const operations = [...new Set(tried.map(({ mutant: { kind } }) => kind.operation))].sort();
  const detected = tried.filter(isDetected).length;
  return {
    seed,
    breaking: tried.length,
    detected,
    byDescriptionAlone: tried.filter(({ found }) => found.length > 0 && found.every(isOfDescription)).length,
    score: tried.length === 0 ? 0 : detected / tried.length,
    unjudged: unjudged.length,
    kept,
    operations: Object.fromEntries(
      operations.map((operation) => {
        const of = tried.filter(({ mutant: { kind } }) => kind.operation === operation);
        return [operation, { breaking: of.length, detected: of.filter(isDetected).length }];
      }),
    ),
    survivors: tried
      .filter((one) => !isDetected(one))
      .map(({ mutant: one, requirements }) => ({ mutant: nameOf(one), requirements })),
    undecided: unjudged.map(nameOf),
  };
}

function isOfDescription(found: string): boolean {
  return found.startsWith('answers.as-described ');
}

/** Formats a score as a table, with one line for each operation and each survivor. */
export function tableOf(score: Score): string {
  const rows = Object.entries(score.operations).map(([operation, { breaking, detected }]) => {
    return `${operation.padEnd(52)} ${String(detected).padStart(4)} of ${String(breaking).padStart(4)}`;
  });
  const survivors = score.survivors.map(
    ({ mutant: name, requirements }) => `  ${name}\n    breaks ${requirements.join(', ')}`,
  );
  return [
    ...rows,
    `${'detected'.padEnd(52)} ${String(score.detected).padStart(4)} of ${String(score.breaking).padStart(4)}  score ${score.score.toFixed(3)}`,
    `found by the host's own API description alone: ${score.byDescriptionAlone}`,
    `unjudged: ${score.unjudged}; without effect on the interface: ${score.kept}`,
    ...(survivors.length === 0 ? [] : ['Survivors:', ...survivors]),
  ].join('\n');
}
