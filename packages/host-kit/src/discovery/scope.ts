import { FACETS } from './families.ts';

const FAMILY_NAMES: ReadonlySet<string> = new Set([...Object.keys(FACETS), 'auth']);

/**
 * Returns the part of a document that a caller may see. It removes families and adds nothing, so a narrower scope never
 * sees more than a wider one.
 *
 * @param visible names of the families that the caller may see. Members that are no families, such as versions and
 *   limits, always stay.
 * @example
 * import { scopeDiscovery } from '@svc/host-kit/discovery';
 *
 * const document = { engineVersion: 1, webhooks: { signed: true }, interrupts: {} };
 * console.log(scopeDiscovery(document, new Set(['webhooks']))); // { engineVersion: 1, webhooks: { signed: true } }
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
