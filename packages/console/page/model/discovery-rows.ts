import type { Json } from '../data/shapes.ts';
import { isObject } from './timeline.ts';

/** One member of the discovery documents, by its path. Undefined: the document has no such member. */
export interface DiscoveryRow {
  readonly path: string;
  readonly one: string | undefined;
  readonly two: string | undefined;
}

/**
 * Puts the members of two discovery documents side by side, in the order of their paths. `capabilities.x` of major 1, which
 * repeats its member `x`, is left out.
 */
export function discoveryRows(one: Json | undefined, two: Json | undefined): readonly DiscoveryRow[] {
  const [left, right] = [leavesOf(one), leavesOf(two)];
  for (const leaves of [left, right]) {
    for (const [path, value] of leaves) {
      const repeated = path.startsWith(REPEATS) ? leaves.get(path.slice(REPEATS.length)) : undefined;
      if (repeated === value) leaves.delete(path);
    }
  }
  const paths = [...new Set([...left.keys(), ...right.keys()])].sort();
  return paths.map((path) => ({ path, one: left.get(path), two: right.get(path) }));
}

const REPEATS = 'capabilities.';

function leavesOf(document: Json | undefined): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (value: Json, path: string, depth: number) => {
    if (isObject(value) && depth < DEEPEST && Object.keys(value).length > 0) {
      for (const [name, member] of Object.entries(value))
        walk(member, path === '' ? name : `${path}.${name}`, depth + 1);
    } else if (path !== '') found.set(path, JSON.stringify(value));
  };
  if (document !== undefined) walk(document, '', 0);
  return found;
}

const DEEPEST = 6;

/** A lane of the discovery document: a way in which callers prove who they are. */
export interface Lane {
  readonly lane: string;
  readonly issuers: readonly string[];
  readonly revocation: string;
  readonly assurance: string;
}

/** Reads the lanes of the document of major 2. */
export function lanesIn(two: Json | undefined): readonly Lane[] {
  const auth = isObject(two) ? two.auth : undefined;
  const lanes = isObject(auth) && Array.isArray(auth.lanes) ? auth.lanes : [];
  return lanes.filter(isObject).map(({ lane, issuers, revocation, minimumAssurance }) => ({
    lane: text(lane),
    issuers: Array.isArray(issuers) ? issuers.map(text) : [],
    revocation: text(revocation),
    assurance: text(minimumAssurance),
  }));
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '–';
}
