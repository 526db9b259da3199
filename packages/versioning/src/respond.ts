import { VERSION_HEADER } from './headers.ts';

/** Names the contract that produced a protocol response. @see Interface: Versioning, Response header */
export function stampResponse(headers: Headers, contract: string): void {
  headers.set(VERSION_HEADER, contract);
}

/** Adds names to `Vary`, keeping what stands there. */
export function mergeVary(headers: Headers, ...names: readonly string[]): void {
  const present = (headers.get('vary') ?? '').split(',').map((name) => name.trim());
  const known = new Set(present.map((name) => name.toLowerCase()));
  const added = names.filter((name) => !known.has(name.toLowerCase()));
  headers.set('vary', [...present, ...added].filter((name) => name !== '').join(', '));
}
