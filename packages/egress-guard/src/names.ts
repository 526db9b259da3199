/** A host name in its one judged form: lower case, without trailing dots; undefined for an empty name or an empty label. */
export function canonicalName(hostname: string): string | undefined {
  const name = hostname.toLowerCase().replace(/\.+$/, '');
  return name.length > 253 || name.split('.').some((label) => label === '') ? undefined : name;
}

export const LOCALHOST = 'localhost';

/** Whether a canonical name is one that clouds, containers and this machine give to their insides. */
export function isDeniedName(name: string): boolean {
  return DENIED.has(name) || DENIED_SUFFIXES.some((suffix) => name.endsWith(suffix));
}

const DENIED: ReadonlySet<string> = new Set([
  LOCALHOST,
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.tencentyun.com',
  'instance-data',
  'rancher-metadata',
]);

const DENIED_SUFFIXES: readonly string[] = ['.localhost', '.internal', '.local', '.svc'];
