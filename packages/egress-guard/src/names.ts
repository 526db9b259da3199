/** The names that an operator denies in addition to the built-in ones. */
export interface DeniedNames {
  /** The denied names, in canonical form. */
  readonly denyNames: ReadonlySet<string>;
  /** The denied suffixes, each with its leading dot. */
  readonly denySuffixes: readonly string[];
}

/**
 * Returns a host name in its canonical form: lower case, without trailing dots; undefined for an empty name or an empty
 * label.
 */
export function canonicalName(hostname: string): string | undefined {
  return withoutEmptyLabels(hostname.toLowerCase());
}

/** As `canonicalName`, for a name that is already in lower case. */
export function withoutEmptyLabels(hostname: string): string | undefined {
  let end = hostname.length;
  while (end > 0 && hostname.charCodeAt(end - 1) === DOT) end -= 1;
  const name = end === hostname.length ? hostname : hostname.slice(0, end);
  return name === '' || name.length > 253 || name.charCodeAt(0) === DOT || name.includes('..') ? undefined : name;
}

const DOT = 0x2e;

export const LOCALHOST = 'localhost';

/**
 * Whether a canonical name is denied: a name for the inside of a cloud, container or machine, or a name of the
 * operator's list.
 */
export function isDeniedName(name: string, { denyNames, denySuffixes }: DeniedNames): boolean {
  switch (name) {
    case 'metadata':
    case 'metadata.goog':
    case 'metadata.tencentyun.com':
    case 'instance-data':
    case 'rancher-metadata':
    case 'home.arpa':
      return true;
  }
  switch (name.slice(name.lastIndexOf('.') + 1)) {
    // Reserved for this machine, private networks and multicast DNS; `svc` is the service domain of Kubernetes.
    case LOCALHOST:
    case 'localdomain':
    case 'internal':
    case 'local':
    case 'svc':
      return true;
  }
  if (name.endsWith('.home.arpa') || (denyNames.size > 0 && denyNames.has(name))) return true;
  for (const suffix of denySuffixes) if (name.endsWith(suffix)) return true;
  return false;
}

/**
 * Whether one regular expression suffices to allow the host of a URL, as it does for nearly all public names. It is
 * never true for a name that `isDeniedName` denies, or for an address. When it is false, the complete check decides.
 */
export function isOrdinaryName(host: string, { denyNames, denySuffixes }: DeniedNames): boolean {
  return host.length <= 253 && denyNames.size === 0 && denySuffixes.length === 0 && ORDINARY.test(host);
}

const ORDINARY = /^(?!metadata\.)(?:[a-z0-9_-]+\.)+(?!(?:localhost|localdomain|internal|local|svc|arpa)$)[a-z]{2,63}$/;
