import { FACETS } from './families.ts';

const FAMILY_NAMES: ReadonlySet<string> = new Set([...Object.keys(FACETS), 'auth']);

/**
 * What a document says to a caller who may see some of its families only. It takes away and adds nothing, so a narrower scope never sees more
 * than a wider one.
 *
 * @param visible the families that the caller may see; what is no family, such as versions and limits, everybody sees
 */
export function scopeDiscovery<T extends Readonly<Record<string, unknown>>>(
  document: T,
  visible: ReadonlySet<string>,
): Partial<T> {
  const kept = Object.entries(document).flatMap(([name, value]) => {
    if (FAMILY_NAMES.has(name) && !visible.has(name)) return [];
    const isMirror = name === 'capabilities' && typeof value === 'object' && value !== null;
    return [
      [name, isMirror ? Object.fromEntries(Object.entries(value).filter(([family]) => visible.has(family))) : value],
    ];
  });
  return Object.fromEntries(kept);
}
