import { type Cidr, parseCidr } from './cidr.ts';
import { type OptionNames, requireKnown } from './known-options.ts';
import { canonicalName, type DeniedNames } from './names.ts';

/** The options of {@link egressPolicy}. */
export interface EgressPolicyOptions {
  /**
   * Opens `http://` and `https://` to this machine (127.0.0.0/8, ::1 and the name `localhost`), on every port or on the
   * listed ports. Default false. For development only: the author of a URL then reaches every service that listens
   * there.
   */
  readonly allowLoopback?: boolean | readonly number[];
  /**
   * Blocks that are always denied, such as `198.51.100.0/24`: the operator's own networks with public addresses.
   * `parseCidr` names the accepted form. Default: none.
   */
  readonly denyCidrs?: readonly string[];
  /**
   * Blocks that are allowed although the tables deny them, in the same form. They do not open loopback. Default: none.
   */
  readonly allowCidrs?: readonly string[];
  /**
   * Names that are denied in addition to the built-in ones: `intranet.example`, or `*.corp.example` for all names below
   * it. Default: none.
   */
  readonly denyNames?: readonly string[];
  /**
   * The only allowed ports, 1 to 65535. They do not apply to loopback, whose switch has its own. Default: every port
   * but 0.
   */
  readonly allowPorts?: readonly number[];
  /**
   * The treatment of 64:ff9b::/96 (NAT64) and 2002::/16 (6to4). `judge` judges the IPv4 address inside, for hosts
   * behind DNS64. Default `deny`: without such a gateway no honest caller uses these addresses.
   */
  readonly translated?: 'deny' | 'judge';
  /**
   * PEM certificates of authorities that every guarded form trusts in addition to those of the runtime, such as the authority
   * of your own network. Default: none.
   */
  readonly ca?: readonly string[];
}

/** A checked policy, made by {@link egressPolicy}. */
export interface EgressPolicy extends DeniedNames {
  /** The ports of this machine that are open. */
  readonly loopbackPorts: 'none' | 'any' | ReadonlySet<number>;
  /** The allowed ports of other machines. */
  readonly ports: 'any' | ReadonlySet<number>;
  /** The blocks that are always denied. */
  readonly deny: readonly Cidr[];
  /** The blocks that are allowed although the tables deny them. */
  readonly allow: readonly Cidr[];
  /** The treatment of translated addresses. */
  readonly translated: 'deny' | 'judge';
  /** The authorities that are trusted in addition to those of the runtime, in PEM. */
  readonly ca: readonly string[];
}

/**
 * Makes a policy from its options. Without options it allows https to the public internet, and nothing else.
 *
 * @throws {TypeError} when an option does not exist or an entry is invalid; the message names both
 * @example
 * import { egressPolicy } from '@svc/egress-guard';
 *
 * const policy = egressPolicy({ denyCidrs: ['198.51.100.0/24'], allowPorts: [443, 8443] });
 */
export function egressPolicy(options: EgressPolicyOptions = {}): EgressPolicy {
  requireKnown('egressPolicy', options, EGRESS_POLICY_OPTIONS);
  for (const name of LISTS) {
    if (options[name] !== undefined && !Array.isArray(options[name]))
      throw new TypeError(`egressPolicy: ${name} must be a list. Put what you pass in brackets.`);
  }
  const names = (options.denyNames ?? []).map(requiredName);
  return {
    loopbackPorts: loopbackPorts(options.allowLoopback ?? false),
    ports: options.allowPorts === undefined ? 'any' : portSet('allowPorts', options.allowPorts),
    deny: (options.denyCidrs ?? []).map((text) => requiredCidr('denyCidrs', text)),
    allow: (options.allowCidrs ?? []).map((text) => requiredCidr('allowCidrs', text)),
    denyNames: new Set(names.filter((name) => !name.startsWith('.'))),
    denySuffixes: names.filter((name) => name.startsWith('.')),
    translated: translation(options.translated ?? 'deny'),
    ca: (options.ca ?? []).map(requiredCertificate),
  };
}

/**
 * Rejects what `egressPolicy` did not make, such as its options.
 *
 * @param form the function that got the policy
 * @throws {TypeError} for anything but a policy
 */
export function requirePolicy(form: string, policy: EgressPolicy): void {
  const { deny, allow, denySuffixes, ca } = policy ?? {};
  if ([deny, allow, denySuffixes, ca].every(Array.isArray)) return;
  throw new TypeError(`${form}: policy must be an egress policy. Pass egressPolicy({ … }).`);
}

/** Whether the loopback switch opens a port. */
export function opensLoopback({ loopbackPorts }: EgressPolicy, port: number): boolean {
  if (loopbackPorts === 'none') return false;
  return loopbackPorts === 'any' || loopbackPorts.has(port);
}

const EGRESS_POLICY_OPTIONS: OptionNames<EgressPolicyOptions> = {
  allowLoopback: true,
  denyCidrs: true,
  allowCidrs: true,
  denyNames: true,
  allowPorts: true,
  translated: true,
  ca: true,
};

const LISTS = ['denyCidrs', 'allowCidrs', 'denyNames', 'allowPorts', 'ca'] as const;

function loopbackPorts(option: boolean | readonly number[]): EgressPolicy['loopbackPorts'] {
  if (typeof option === 'boolean') return option ? 'any' : 'none';
  if (!Array.isArray(option))
    throw new TypeError('egressPolicy: allowLoopback must be true, false or a list of ports.');
  return portSet('allowLoopback', option);
}

function portSet(option: string, ports: readonly number[]): ReadonlySet<number> {
  for (const port of ports) {
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new TypeError(`${option}: ${port} is not a port. Pass whole numbers from 1 to 65535.`);
    }
  }
  return new Set(ports);
}

function translation(value: string): EgressPolicy['translated'] {
  if (value === 'deny' || value === 'judge') return value;
  throw new TypeError(`translated: "${value}" is neither deny nor judge. Leave it out for deny.`);
}

/** TLS would take a text without a certificate, such as a path, and trust nothing more. */
function requiredCertificate(text: string, index: number): string {
  if (typeof text === 'string' && text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new TypeError(`ca: entry ${index} is no certificate in PEM. Pass the text of the file, not its path.`);
}

function requiredCidr(option: string, text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === undefined) {
    throw new TypeError(
      `${option}: "${text}" is not a block of addresses. Pass a network such as 10.0.0.0/8 or fd00::/8.`,
    );
  }
  return cidr;
}

/** Returns the canonical name; `*.a.example` becomes `.a.example`. */
function requiredName(text: string): string {
  const isSuffix = text.startsWith('*.');
  const name = canonicalName(isSuffix ? text.slice(2) : text);
  if (name === undefined || !/^[a-z0-9_.-]+$/.test(name)) {
    throw new TypeError(`denyNames: "${text}" is not a host name. Pass a name, or *. and a name.`);
  }
  return isSuffix ? `.${name}` : name;
}
