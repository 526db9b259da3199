/** Names that an operator denies beside the built-in ones. */
export interface DeniedNames {
  readonly denyNames: ReadonlySet<string>;
  /** Each with its leading dot. */
  readonly denySuffixes: readonly string[];
}

/** A host name in its one judged form: lower case, without trailing dots; undefined for an empty name or an empty label. */
export function canonicalName(hostname: string): string | undefined {
  return withoutEmptyLabels(hostname.toLowerCase());
}

/** As `canonicalName`, of what `URL` has put into lower case already. */
export function withoutEmptyLabels(hostname: string): string | undefined {
  let end = hostname.length;
  while (end > 0 && hostname.charCodeAt(end - 1) === DOT) end -= 1;
  const name = end === hostname.length ? hostname : hostname.slice(0, end);
  return name === '' || name.length > 253 || name.charCodeAt(0) === DOT || name.includes('..') ? undefined : name;
}

const DOT = 0x2e;

export const LOCALHOST = 'localhost';

/** Whether a canonical name is one that clouds, containers, this machine or the operator give to their insides. */
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
    // Reserved for this machine, for private networks, for multicast DNS; and one container platform's services.
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
 * Whether a host of a URL is seen at one glance to be a name of the public kind, as nearly all are. It never says so of a name that
 * `isDeniedName` denies, nor of an address; of what it does not know, the careful way decides.
 */
export function isOrdinaryName(host: string, { denyNames, denySuffixes }: DeniedNames): boolean {
  return host.length <= 253 && denyNames.size === 0 && denySuffixes.length === 0 && ORDINARY.test(host);
}

const ORDINARY = /^(?!metadata\.)(?:[a-z0-9_-]+\.)+(?!(?:localhost|localdomain|internal|local|svc|arpa)$)[a-z]{2,63}$/;
