import { METADATA, NAMED_IN_MAJOR_2 } from './families.ts';

/** The members of a document that are no family. They are in every view. */
const ALWAYS: ReadonlySet<string> = new Set([
  ...Object.keys(METADATA),
  ...['protocolVersion', 'eventLogSchemaVersion', 'supportedEnvelopes', 'schemaVersions', 'limits', 'discovery'],
  ...['supportedTransports', 'streamModes', 'contractProvenance', 'hostExtensions', 'extensions', 'capabilities'],
]);

/** The names by which `visible` may have a family that major 2 names differently. Its audit record is part of `auth`. */
const ALSO_NAMED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(NAMED_IN_MAJOR_2).map(([name, inMajor2]) => [inMajor2, name])),
  auditLogIntegrity: 'auth',
};

/**
 * Returns the part of a document that a caller may see. It removes families and adds nothing, so a narrower scope never
 * sees more than a wider one.
 *
 * @param visible names of the families that the caller may see, as major 1 or major 2 has them. Members that are no
 *   families, such as versions and limits, always stay.
 */
export function scopeDiscovery<T extends Readonly<Record<string, unknown>>>(
  document: T,
  visible: ReadonlySet<string>,
): Partial<T> {
  const isVisible = (name: string) => visible.has(name) || visible.has(ALSO_NAMED[name] ?? name);
  const kept = Object.entries(document).flatMap(([name, value]) => {
    if (!ALWAYS.has(name) && !isVisible(name)) return [];
    const isMirror = name === 'capabilities' && typeof value === 'object' && value !== null;
    return [
      [name, isMirror ? Object.fromEntries(Object.entries(value).filter(([family]) => isVisible(family))) : value],
    ];
  });
  return Object.fromEntries(kept);
}
