import { MANIFEST, type Operation } from './manifest.ts';

/** A path that the manifest names, with what stood in the place of its parameters, still encoded. */
export interface NamedPath {
  readonly operations: readonly Operation[];
  readonly params: Readonly<Record<string, string>>;
}

/**
 * The path of a request target, or undefined when the target is not in the one form that is judged: origin form, printable
 * ASCII, without fragment, backslash, dot segment or empty segment, in plain or percent-encoded spelling. Whatever could mean
 * another path to another reader ends here.
 *
 * @see RFC 9112, section 3.2.1
 */
export function pathOfTarget(target: string): string | undefined {
  const query = target.indexOf('?');
  const path = query < 0 ? target : target.slice(0, query);
  if (!PATH.test(path) || (query >= 0 && !QUERY.test(target.slice(query + 1)))) return undefined;
  return DOT_SEGMENT.test(path) ? undefined : path;
}

/** The operations at a bare-origin path, one for each method. */
export function namedPath(path: string): NamedPath | undefined {
  const segments = path.slice(1).split('/');
  for (const shape of SHAPES.get(segments.length) ?? []) {
    const params = match(shape.segments, segments);
    if (params !== undefined) return { operations: shape.operations, params };
  }
  return undefined;
}

/** `/`, then segments of the characters of RFC 3986, percent-encoded ones spelled out, none empty. A query is any visible ASCII. */
const PATH = /^(?:\/|(?:\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})+)+)$/;
const QUERY = /^[\x21\x22\x24-\x7e]*$/;
const DOT_SEGMENT = /\/(?:\.|%2[eE]){1,2}(?:\/|$)/;

type Segment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'parameter'; readonly name: string; readonly verb: string };

interface Shape {
  readonly segments: readonly Segment[];
  readonly operations: readonly Operation[];
}

/** The distinct paths of the manifest by their number of segments, the more literal first. */
const SHAPES: ReadonlyMap<number, readonly Shape[]> = shapes();

function shapes(): Map<number, Shape[]> {
  const byCount = new Map<number, Shape[]>();
  for (const path of new Set(MANIFEST.map((operation) => operation.path))) {
    const segments = path.slice(1).split('/').map(segmentOf);
    const shape = { segments, operations: MANIFEST.filter((operation) => operation.path === path) };
    const same = byCount.get(segments.length) ?? [];
    byCount.set(
      segments.length,
      [...same, shape].sort((a, b) => literalness(b) - literalness(a)),
    );
  }
  return byCount;
}

function segmentOf(text: string): Segment {
  const [, name, verb = ''] = /^\{(\w+)\}(:[a-z-]+)?$/.exec(text) ?? [];
  return name === undefined ? { kind: 'literal', text } : { kind: 'parameter', name, verb };
}

function literalness({ segments }: Shape): number {
  return segments.reduce((sum, segment) => sum + (segment.kind === 'literal' ? 2 : segment.verb === '' ? 0 : 1), 0);
}

function match(shape: readonly Segment[], segments: readonly string[]): Record<string, string> | undefined {
  let params: Record<string, string> = NONE;
  for (const [index, expected] of shape.entries()) {
    const segment = segments[index] ?? '';
    if (expected.kind === 'literal') {
      if (segment !== expected.text) return undefined;
      continue;
    }
    if (!segment.endsWith(expected.verb) || segment.length === expected.verb.length) return undefined;
    // A verb that this manifest does not know is no part of an id.
    if (expected.verb === '' && segment.includes(':')) return undefined;
    params = { ...params, [expected.name]: segment.slice(0, segment.length - expected.verb.length) };
  }
  return params;
}

const NONE: Record<string, string> = {};
