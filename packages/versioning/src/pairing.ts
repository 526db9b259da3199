import { MANIFEST, type OperationId } from './manifest.ts';
import type { Served } from './served.ts';
import type { Major } from './version.ts';

/**
 * The operations that a host serves under one advertised major and not under another that defines them too, as sentences;
 * empty when the host may advertise what it means to.
 *
 * @param operations what is served: in all majors alike, or listed for each
 * @example
 * const problems = checkPairing(['createRun', 'readRun'], protocol);
 * if (problems.length > 0) throw new TypeError(problems.join(' '));
 * @see Interface: Versioning, Paths, 2
 */
export function checkPairing(
  operations: Iterable<OperationId> | Readonly<Record<Major, Iterable<OperationId>>>,
  served: Pick<Served, 'majors'>,
): readonly string[] {
  if (Symbol.iterator in operations) {
    const all = new Set(operations);
    return pairingProblems((operationId) => all.has(operationId), served);
  }
  const byMajor = { 1: new Set(operations[1]), 2: new Set(operations[2]) };
  return pairingProblems((operationId, major) => byMajor[major].has(operationId), served);
}

/** The same check over a predicate, for a host that decides by rule rather than by list. */
export function pairingProblems(
  servesUnder: (operationId: OperationId, major: Major) => boolean,
  served: Pick<Served, 'majors'>,
): string[] {
  return MANIFEST.flatMap(({ operationId, method, path, majors }) => {
    const advertised = majors.filter((major) => served.majors.has(major));
    const serving = advertised.filter((major) => servesUnder(operationId, major));
    if (serving.length === 0 || serving.length === advertised.length) return [];
    const missing = advertised.filter((major) => !serving.includes(major));
    return [
      `${operationId} (${method} ${path}): is served under major ${serving.join()} but not under ${missing.join()}. Serve both or neither.`,
    ];
  });
}
