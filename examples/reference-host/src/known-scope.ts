import { grants } from '@svc/auth';
import { HOST_SCOPES } from '@svc/host-kit';

/**
 * Returns the known scope that a granted scope misspells; undefined for one that covers a known scope, or belongs to
 * another vocabulary: its first segment is then no near miss of a known one.
 */
export function misspeltScope(scope: string): string | undefined {
  if (HOST_SCOPES.some((known) => grants([scope], known))) return undefined;
  const [family = ''] = scope.split(':');
  const isNear = NEAR.some((known) => distance(family, known.slice(0, known.indexOf(':'))) <= FEW_MISTAKES);
  if (!isNear) return undefined;
  return [...NEAR].sort((a, b) => distance(scope, a) - distance(scope, b))[0];
}

/** `roles` is as near to `files` and other words of other vocabularies as to its own misspellings. */
const NEAR = HOST_SCOPES.filter((scope) => scope !== 'roles:manage');

const FEW_MISTAKES = 2;

/** The number of letters to add, remove or replace. @see Levenshtein distance */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...to].entries()) {
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
