/**
 * Adds names to `Vary` and keeps the names that it has. Leaves `*` unchanged, since it includes every name.
 *
 * @example
 * const headers = new Headers({ vary: 'Accept' });
 * mergeVary(headers, 'SVC-Version'); // Vary: Accept, SVC-Version
 * @see RFC 9110, section 12.5.5
 */
export function mergeVary(headers: Headers, ...names: readonly string[]): void {
  const merged = (headers.get('vary') ?? '').split(',').flatMap((name) => name.trim() || []);
  const known = new Set(merged.map((name) => name.toLowerCase()));
  if (known.has('*')) return;
  for (const name of names) {
    if (known.has(name.toLowerCase())) continue;
    known.add(name.toLowerCase());
    merged.push(name);
  }
  if (merged.length > 0) headers.set('vary', merged.join(', '));
}
