/** @see Interface: API keys, Scope vocabulary */
export const SCOPES: readonly string[] = [
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
];

/** Whether a text can be granted: segments between colons, each a name or the wildcard `*`. */
export function isGrantableScope(text: string): boolean {
  return text.length <= 128 && /^(?:[A-Za-z0-9._-]+|\*)(?::(?:[A-Za-z0-9._-]+|\*))*$/.test(text);
}

/**
 * Whether any granted scope covers the required one: as many segments, each equal or `*` in the grant. A wildcard in what is
 * required is covered by nothing.
 */
export function grants(granted: readonly string[], required: string): boolean {
  if (required.includes('*')) return false;
  return granted.some((scope) => scope === required || covers(scope, required));
}

function covers(scope: string, required: string): boolean {
  if (!scope.includes('*')) return false;
  const parts = scope.split(':');
  const wanted = required.split(':');
  return parts.length === wanted.length && parts.every((part, index) => part === '*' || part === wanted[index]);
}
