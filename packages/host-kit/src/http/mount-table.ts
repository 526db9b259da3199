import type { MountRoute } from './route.ts';

/** Finds the route of a path under `/host/<org>`. */
export interface MountTable {
  /** `/host/<org>`. */
  readonly prefix: string;
  /** The path of which `path` is the twin under `/v1`; undefined for any other path. */
  twinOf(path: string): string | undefined;
  /** Undefined when no mount has the path. */
  find(method: string, path: string): MountMatch | undefined;
}

export type MountMatch =
  | { readonly kind: 'route'; readonly route: MountRoute; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly string[] };

/**
 * @param hasTwins whether each path is also served under `/v1`
 * @see Interface: Versioning, Paths, 3
 */
export function mountTable(org: string, routes: readonly MountRoute[], hasTwins: boolean): MountTable {
  const prefix = `/host/${org}`;
  const patterns = routes.map((route) => ({ route, segments: route.path.split('/') }));
  return {
    prefix,
    twinOf: (path) => (hasTwins && path.startsWith(`/v1${prefix}/`) ? path.slice('/v1'.length) : undefined),
    find(method, path) {
      if (!path.startsWith(`${prefix}/`)) return undefined;
      const given = path.slice(prefix.length).split('/');
      const fitting = patterns.flatMap(({ route, segments }) => {
        const params = match(segments, given);
        return params === undefined ? [] : [{ route, params }];
      });
      const found = fitting.find(({ route }) => route.method === method);
      if (found !== undefined) return { kind: 'route', ...found };
      if (fitting.length === 0) return undefined;
      return { kind: 'method-not-allowed', allow: fitting.map(({ route }) => route.method) };
    },
  };
}

function match(segments: readonly string[], given: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (segments.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = given[index] ?? '';
    if (segment.startsWith('{') && value !== '') params[segment.slice(1, -1)] = value;
    else if (segment !== value) return undefined;
  }
  return params;
}
