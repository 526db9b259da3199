import { type Cidr, parseCidr } from './cidr.ts';
import { canonicalName, type DeniedNames } from './names.ts';

export interface EgressPolicyOptions {
  /**
   * Opens `http://` and `https://` to this machine (127.0.0.0/8, ::1 and the name `localhost`), on every port or on those
   * listed. For development: whoever may register a URL reaches every service that listens there.
   */
  readonly allowLoopback?: boolean | readonly number[];
  /** Blocks that are denied whatever else allows them: the operator's own networks with public addresses. */
  readonly denyCidrs?: readonly string[];
  /** Blocks that are allowed although the tables deny them; loopback is not opened by this. */
  readonly allowCidrs?: readonly string[];
  /** Names that are denied beside the built-in ones: `intranet.example`, or `*.corp.example` with all that is below it. */
  readonly denyNames?: readonly string[];
  /** The only ports that may be called; default: every port but 0. The loopback switch has ports of its own. */
  readonly allowPorts?: readonly number[];
  /**
   * `judge` judges 64:ff9b::/96 (NAT64) and 2002::/16 (6to4) by the IPv4 address inside, for hosts that live behind DNS64. Default
   * `deny`: without such a gateway nobody honest sends these.
   */
  readonly translated?: 'deny' | 'judge';
}

/** What may be called, checked once. */
export interface EgressPolicy extends DeniedNames {
  readonly loopbackPorts: 'none' | 'any' | ReadonlySet<number>;
  readonly ports: 'any' | ReadonlySet<number>;
  readonly deny: readonly Cidr[];
  readonly allow: readonly Cidr[];
  readonly translated: 'deny' | 'judge';
}

/**
 * Checks a policy. Without options it allows the public internet over https, and nothing else.
 *
 * @throws {TypeError} naming the option that does not exist, or the entry that is no block of addresses, name or port
 * @example
 * const policy = egressPolicy({ denyCidrs: ['198.51.100.0/24'], allowPorts: [443, 8443] });
 */
export function egressPolicy(options: EgressPolicyOptions = {}): EgressPolicy {
  const unknown = Object.keys(options).find((name) => !OPTIONS.has(name));
  // A switch that is spelt wrongly must not look as if it were set.
  if (unknown !== undefined) {
    throw new TypeError(`${unknown}: is not an option of egressPolicy. Use ${[...OPTIONS].join(', ')}.`);
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
  };
}

/** Whether the loopback switch opens a port. */
export function opensLoopback({ loopbackPorts }: EgressPolicy, port: number): boolean {
  if (loopbackPorts === 'none') return false;
  return loopbackPorts === 'any' || loopbackPorts.has(port);
}

const OPTIONS: ReadonlySet<string> = new Set<keyof EgressPolicyOptions>([
  'allowLoopback',
  'denyCidrs',
  'allowCidrs',
  'denyNames',
  'allowPorts',
  'translated',
]);

function loopbackPorts(option: boolean | readonly number[]): EgressPolicy['loopbackPorts'] {
  if (typeof option === 'boolean') return option ? 'any' : 'none';
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

function requiredCidr(option: string, text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === undefined) {
    throw new TypeError(
      `${option}: "${text}" is not a block of addresses. Pass a network such as 10.0.0.0/8 or fd00::/8.`,
    );
  }
  return cidr;
}

/** `*.a.example` becomes `.a.example`. */
function requiredName(text: string): string {
  const isSuffix = text.startsWith('*.');
  const name = canonicalName(isSuffix ? text.slice(2) : text);
  if (name === undefined || !/^[a-z0-9_.-]+$/.test(name)) {
    throw new TypeError(`denyNames: "${text}" is not a host name. Pass a name, or *. and a name.`);
  }
  return isSuffix ? `.${name}` : name;
}
