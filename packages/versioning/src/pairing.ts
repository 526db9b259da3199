import { MANIFEST, type OperationId } from './manifest.ts';
import type { Served } from './served.ts';
import type { Major } from './version.ts';

/**
 * The operations that a host serves under one advertised major and not under another that defines them too, as sentences;
 * empty when the host may advertise what it means to.
 *
 * @see Interface: Versioning, Paths, 2
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
    return [
      `${operationId} (${method} ${path}) is served under major ${serving.join()} and not under ${missing.join()}.`,
    ];
  });
}
