import { MANIFEST, type OperationId } from './manifest.ts';
import type { Served } from './served.ts';
import type { Major } from './version.ts';

/**
 * Finds the operations that a host serves under one advertised major but not under another that defines them too.
 *
 * @param operations the operations that the host serves: one list for all majors, or a list for each
 * @returns one sentence for each operation; empty when the host may advertise its majors
 * @example
 * import { checkPairing, served } from '@svc/versioning';
 *
 * const protocol = served({ versions: ['1.1', '2.0'], preferred: '1.1' });
 * const problems = checkPairing({ 1: ['createRun', 'readRun'], 2: ['readRun'] }, protocol);
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

/**
 * Does the check of {@link checkPairing} with a predicate instead of lists.
 *
 * @example
 * import { pairingProblems, served } from '@svc/versioning';
 *
 * const protocol = served({ versions: ['1.1', '2.0'], preferred: '1.1' });
 * pairingProblems((operationId) => operationId.startsWith('read'), protocol); // []
 */
export function pairingProblems(
  servesUnder: (operationId: OperationId, major: Major) => boolean,
  served: Pick<Served, 'majors'>,
): string[] {
  return MANIFEST.flatMap(({ operationId, method, path, majors }) => {
    const advertised = majors.filter((major) => served.majors.has(major));
    const serving = advertised.filter((major) => servesUnder(operationId, major));
    if (serving.length === 0 || serving.length === advertised.length) return [];
    const missing = advertised.filter((major) => !serving.includes(major));
    const fault = `is served under major ${serving.join()} but not under ${missing.join()}`;
    return [`${operationId} (${method} ${path}): ${fault}. Serve both or neither.`];
  });
}
