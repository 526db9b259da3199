import { DISCOVERY_PATH, MANIFEST, type Operation } from './manifest.ts';

/** A path of the manifest, with the values of its parameters, still percent-encoded. */
export interface NamedPath {
  readonly operations: readonly Operation[];
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Returns the path of a request target, or undefined unless the target is in origin form and visible ASCII, without
 * fragment, backslash, dot segment or empty segment, plain or percent-encoded. A target that two servers could resolve
 * to different paths is thus rejected. One trailing slash passes; `negotiate` decides about it.
 *
 * @see RFC 9112, section 3.2.1; RFC 3986, section 3.3
 */
export function pathOfTarget(target: string): string | undefined {
  const query = target.indexOf('?');
  const path = query < 0 ? target : target.slice(0, query);
  if (!PATH.test(path) || (query >= 0 && !QUERY.test(target.slice(query + 1)))) return undefined;
  return DOT_SEGMENT.test(path) ? undefined : path;
}

/** A request target that is a path of the manifest without parameters, with or without `/v1`. */
export interface FixedTarget extends NamedPath {
  readonly isUnderV1: boolean;
}

/**
 * Finds a request target that is a path of the manifest without parameters. Undefined for every other one, which
 * {@link pathOfTarget} judges.
 */
export function fixedTarget(target: string): FixedTarget | undefined {
  return target.length > LONGEST_FIXED ? undefined : FIXED.get(target);
}

/** Finds the operations at an unversioned path, one for each method. The path begins at index `start` of the text. */
export function namedPath(text: string, start = 0): NamedPath | undefined {
  let place = ROOT;
  let params = NONE;
  for (let at = start + 1; at <= text.length; ) {
    const slash = text.indexOf('/', at);
    const end = slash < 0 ? text.length : slash;
    const segment = text.slice(at, end);
    const literal = place.literals.get(segment);
    if (literal !== undefined) place = literal;
    else {
      const { parameter } = place;
      if (parameter === undefined) return undefined;
      if (parameter.name === REST) {
        const rest = text.slice(at);
        return rest.endsWith('/') || rest === ''
          ? undefined
          : { operations: parameter.plain.operations, params: { ...params, [REST]: rest } };
      }
      const found = parameterIn(segment, parameter, end === text.length);
      if (found === undefined) return undefined;
      place = found.place;
      params = { ...params, [parameter.name]: found.value };
    }
    at = end + 1;
  }
  return place.operations.length === 0 ? undefined : { operations: place.operations, params };
}

/**
 * `/`, or non-empty segments of the characters of RFC 3986 with valid percent-encoding. A query is any visible ASCII.
 */
const PATH = /^(?:\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})+)*\/?$(?<=.)/;
const QUERY = /^[\x21\x22\x24-\x7e]*$/;
const DOT_SEGMENT = /\/(?:\.|%2[eE]){1,2}(?:\/|$)/;

/** The one parameter that matches all remaining segments: the path of a file, whose slashes may be plain. */
const REST = 'path';

/** A node of the manifest's tree of path segments. No node has both literal children and a parameter. */
interface Place {
  readonly operations: Operation[];
  readonly literals: Map<string, Place>;
  parameter: Parameter | undefined;
}

interface Parameter {
  readonly name: string;
  readonly plain: Place;
  /** The nodes for a parameter with a literal suffix, such as `:fork`. */
  readonly verbs: Map<string, Place>;
}

function parameterIn(
  segment: string,
  parameter: Parameter,
  last: boolean,
): { value: string; place: Place } | undefined {
  if (segment === '') return undefined;
  const colon = last && parameter.verbs.size > 0 ? segment.lastIndexOf(':') : -1;
  if (colon < 0) return { value: segment, place: parameter.plain };
  const suffix = segment.slice(colon);
  const place = parameter.verbs.get(suffix);
  if (place !== undefined) return colon === 0 ? undefined : { value: segment.slice(0, colon), place };
  // An unknown verb must not become part of an id: `GET /runs/x:delete` would read the run `x:delete`.
  return VERB.test(suffix) ? undefined : { value: segment, place: parameter.plain };
}

const VERB = /^:[a-z-]*$/;
const NONE: Readonly<Record<string, string>> = {};
const ROOT = tree();

/** The targets that need neither the patterns nor the tree. */
const FIXED: ReadonlyMap<string, FixedTarget> = fixedTargets();
const LONGEST_FIXED = Math.max(...[...FIXED.keys()].map(({ length }) => length));

function fixedTargets(): Map<string, FixedTarget> {
  const targets = new Map<string, FixedTarget>();
  for (const { path } of MANIFEST) {
    const named = path.includes('{') ? undefined : namedPath(path);
    if (named === undefined) continue;
    targets.set(path, { ...named, isUnderV1: false });
    // Discovery has one path for both majors.
    if (path !== DISCOVERY_PATH) targets.set(`/v1${path}`, { ...named, isUnderV1: true });
  }
  return targets;
}

function tree(): Place {
  const root = emptyPlace();
  for (const operation of MANIFEST) {
    let place = root;
    for (const text of operation.path.slice(1).split('/')) place = placeBehind(place, text);
    place.operations.push(operation);
  }
  return root;
}

function placeBehind(place: Place, text: string): Place {
  const [, name, verb] = /^\{(\w+)\}(:[a-z-]+)?$/.exec(text) ?? [];
  if (name === undefined) return entry(place.literals, text);
  place.parameter ??= { name, plain: emptyPlace(), verbs: new Map() };
  return verb === undefined ? place.parameter.plain : entry(place.parameter.verbs, verb);
}

function entry(places: Map<string, Place>, text: string): Place {
  const place = places.get(text) ?? emptyPlace();
  places.set(text, place);
  return place;
}

function emptyPlace(): Place {
  return { operations: [], literals: new Map(), parameter: undefined };
}
