import { VERSION_HEADER } from './headers.ts';

/** Names the contract that produced a protocol response. @see Interface: Versioning, Response header */
export function stampResponse(headers: Headers, contract: string): void {
  headers.set(VERSION_HEADER, contract);
}

/** Adds names to `Vary`, keeping what stands there; `*` already says more. @see RFC 9110, section 12.5.5 */
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
