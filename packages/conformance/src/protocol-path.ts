import type { Sent } from './http/answer.ts';
import type { Major } from './rule.ts';
import type { Target } from './target.ts';

/** The operation that a request addressed. */
export interface Addressed {
  /** Major that answers the request: that of `preferredVersion` where `SVC-Version` names none. */
  readonly major: Major;
  /** True when the request named the major, or named none. False when its `SVC-Version` is malformed or unknown. */
  readonly isNamed: boolean;
  /** Path without `/v1` and query. */
  readonly path: string;
  readonly target: Target;
}

/**
 * Finds the operation that a request addressed. Returns undefined for a path that the interface does not name, and for a major
 * that the host does not serve.
 */
export function addressed({ url, headers }: Pick<Sent, 'url' | 'headers'>, target: Target): Addressed | undefined {
  const whole = url.slice(target.origin.length).split('?', 1)[0] ?? '';
  const isPrefixed = whole.startsWith('/v1/');
  const path = isPrefixed ? whole.slice('/v1'.length) : whole;
  const isNamedPath = PATHS.some((pattern) => pattern.test(path)) || (isPrefixed && FILES.test(path));
  if (!isNamedPath) return undefined;
  const preferred: Major = target.preferredVersion?.startsWith('2.') === true ? 2 : 1;
  const named = isPrefixed ? 1 : namedIn(headers, preferred);
  const major = named ?? preferred;
  return target.majors.includes(major) ? { major, isNamed: named !== undefined, path, target } : undefined;
}

/** Returns undefined when the header names no major that there is. */
function namedIn(headers: Sent['headers'], preferred: Major): Major | undefined {
  const given = headers.filter(([name]) => name.toLowerCase() === 'svc-version').map(([, value]) => value);
  const [version, ...more] = given;
  if (version === undefined) return preferred;
  const named = more.length > 0 ? undefined : /^([12])(?:\.(?:0|[1-9][0-9]*))?$/.exec(version)?.[1];
  return named === undefined ? undefined : named === '1' ? 1 : 2;
}

/** Paths of the interface without `/v1`. A parameter is one segment. */
const PATHS: readonly RegExp[] = [
  '/.well-known/svc',
  '/openapi.json',
  '/workflows/*',
  '/runs',
  '/runs:bulk-cancel',
  '/runs/*',
  '/runs/*:pause',
  '/runs/*:resume',
  '/runs/*:fork',
  '/runs/*/events',
  '/runs/*/events/poll',
  '/runs/*/cancel',
  '/runs/*/annotations',
  '/runs/*/effects',
  '/runs/*/artifacts/*',
  '/runs/*/interrupts/*',
  '/interrupts/*',
  '/audit/verify',
  '/webhooks',
  '/webhooks/*',
  '/webhooks/*/dead-letters',
  '/webhooks/*/rotate-secret',
].map((path) => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '[^/?]+')}$`));

/** Workspace files, which major 2 has not. Their path may have any number of segments. */
const FILES = /^\/host\/workspace\/files(?:\/.+)?$/;
