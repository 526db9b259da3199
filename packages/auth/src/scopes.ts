/**
 * The scopes of the protocol.
 *
 * @see Interface: API keys (machine callers), Scope vocabulary
 */
export const SCOPES = [
  'manifest:read',
  'runs:create',
  'runs:read',
  'runs:cancel',
  'artifacts:read',
  'webhooks:manage',
  'approvals:respond',
  'packs:publish',
  'packs:yank',
  'packs:yank-revert',
  'audit:read',
  'workspace:read',
  'workspace:write',
] as const;

/** A scope of the protocol. A scope of the host is a plain string. */
export type Scope = (typeof SCOPES)[number];

/**
 * Returns whether a text names one scope: segments of letters, digits, `.`, `_` and `-`, joined by colons, 128
 * characters at most. A wildcard is not a scope.
 *
 * @example
 * isScope('runs:read'); // true
 * isScope('runs:*'); // false
 */
export function isScope(text: string): boolean {
  return text.length <= MAX_LENGTH && SCOPE.test(text);
}

/**
 * Returns whether a text can be granted: a scope in which whole segments may be `*`.
 *
 * @example
 * isGrantableScope('runs:*'); // true
 * isGrantableScope('runs:re*'); // false
 */
export function isGrantableScope(text: string): boolean {
  return text.length <= MAX_LENGTH && GRANTABLE.test(text);
}

/** Returns whether a value is a list of scopes that can be granted. */
export function areGrantable(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((scope) => typeof scope === 'string' && isGrantableScope(scope));
}

const MAX_LENGTH = 128;
const SCOPE = /^[A-Za-z0-9._-]+(?::[A-Za-z0-9._-]+)*$/;
const GRANTABLE = /^(?:[A-Za-z0-9._-]+|\*)(?::(?:[A-Za-z0-9._-]+|\*))*$/;

/**
 * Returns whether a granted scope covers the required one. It has as many segments, and each is equal,
 * case-sensitively, or `*` in the grant. A required text that is not a scope, such as a wildcard, is never covered.
 *
 * @example
 * grants(['runs:*'], 'runs:read'); // true
 * grants(['runs:cancel'], 'runs:read'); // false: no scope implies another
 * @see Interface: API keys (machine callers), item 7
 */
export function grants(granted: readonly string[], required: string): boolean {
  return isScope(required) && granted.some((scope) => scope === required || covers(scope, required));
}

function covers(scope: string, required: string): boolean {
  if (!scope.includes('*')) return false;
  const segments = scope.split(':');
  const wanted = required.split(':');
  return (
    segments.length === wanted.length && segments.every((segment, at) => segment === '*' || segment === wanted[at])
  );
}

/**
 * Returns the scopes that a host can grant and require: the protocol's and its own.
 *
 * @throws {TypeError} for a name that is not a scope, or equals another name in any case
 * @example
 * scopeVocabulary(['deploy:start']); // the scopes of the protocol and `deploy:start`
 * @see Interface: API keys (machine callers), item 8
 */
export function scopeVocabulary(additional: readonly string[]): readonly string[] {
  const vocabulary: string[] = [...SCOPES];
  for (const [index, name] of additional.entries()) {
    if (!isScope(name))
      throw new TypeError(
        `scopeVocabulary: additional[${index}] must be a scope without wildcards, e.g. deploy:start.`,
      );
    if (vocabulary.some((taken) => taken.toLowerCase() === name.toLowerCase())) {
      throw new TypeError(
        `scopeVocabulary: additional[${index}], ${name}, is taken. Choose a name that differs in more than case.`,
      );
    }
    vocabulary.push(name);
  }
  return vocabulary;
}
