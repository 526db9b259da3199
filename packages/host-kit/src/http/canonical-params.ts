import type { Major } from '@svc/versioning';
import { projectId, resolveId } from '@svc/versioning/ids';
import { decodedSegment } from './segment.ts';

/**
 * Returns path parameters in one spelling: an id in the form that links of its major have, everything else without
 * percent-encoding. So a request that is repeated with another spelling of the same path is the same request.
 *
 * @param params as received, still percent-encoded
 */
export function canonicalParams(
  params: Readonly<Record<string, string>>,
  tenant: string,
  major: Major,
): Readonly<Record<string, string>> {
  const spelled = Object.entries(params).map(([name, segment]) => [
    name,
    (BOUND_IDS.has(name) ? idOf(segment, tenant, major) : undefined) ?? decodedSegment(segment) ?? segment,
  ]);
  return Object.fromEntries(spelled);
}

const BOUND_IDS: ReadonlySet<string> = new Set(['runId', 'webhookId', 'artifactId', 'id']);

/** Returns undefined for an id that the operation will reject. */
function idOf(segment: string, tenant: string, major: Major): string | undefined {
  const resolved = resolveId(segment, { tenant, major, overlap: true });
  if (!resolved.ok) return undefined;
  return major === 2 ? projectId(`${tenant}/${resolved.id}`) : resolved.id;
}
