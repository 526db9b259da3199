/** The fields of a certificate that identity schemes read. */
export interface CertificateFacts {
  readonly uris: readonly string[];
  readonly dnsNames: readonly string[];
  readonly isAuthority: boolean;
  /** Most authorities below this one on a path. Undefined: no limit. */
  readonly pathLength: number | undefined;
  /** Undefined when the certificate does not restrict the use of its key. */
  readonly keyUsage:
    | { readonly digitalSignature: boolean; readonly keyAgreement: boolean; readonly signsCertificates: boolean }
    | undefined;
  /** Whether the certificate may identify a client: it names that purpose, any purpose, or none. */
  readonly isForClients: boolean;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
}

/**
 * Parses a certificate. It verifies nothing: trust depends on the chain.
 *
 * @returns undefined for bytes that are not one DER certificate
 * @see RFC 5280, sections 4.1 and 4.2.1
 */
export function readCertificate(der: Uint8Array): CertificateFacts | undefined {
  try {
    return factsOf(der);
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

class Malformed extends Error {}

interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
}

function factsOf(der: Uint8Array): CertificateFacts {
  const [certificate, ...after] = elements(der);
  const [body] = elements(sequence(certificate));
  if (after.length > 0) throw new Malformed();
  const fields = elements(sequence(body));
  // Every certificate with extensions has an explicit version.
  if (fields[0]?.tag !== 0xa0) throw new Malformed();
  const [notBefore, notAfter] = elements(sequence(fields[4]));
  const extensions = extensionsOf(fields.find(({ tag }) => tag === 0xa3));
  const names = alternativeNames(extensions.get(SUBJECT_ALT_NAME));
  return {
    uris: names.filter(({ tag }) => tag === 0x86).map(ascii),
    dnsNames: names.filter(({ tag }) => tag === 0x82).map(ascii),
    ...basicConstraints(extensions.get(BASIC_CONSTRAINTS)),
    keyUsage: keyUsage(extensions.get(KEY_USAGE)),
    isForClients: isForClients(extensions.get(EXTENDED_KEY_USAGE)),
    notBefore: time(notBefore),
    notAfter: time(notAfter),
  };
}

/** Object identifiers 2.5.29.15, .17, .19 and .37 in DER. */
const KEY_USAGE = '551d0f';
const SUBJECT_ALT_NAME = '551d11';
const BASIC_CONSTRAINTS = '551d13';
const EXTENDED_KEY_USAGE = '551d25';

/** `id-kp-clientAuth` and `anyExtendedKeyUsage`. @see RFC 5280, section 4.2.1.12 */
const CLIENT_PURPOSES = ['2b06010505070302', '551d2500'];

function extensionsOf(wrapper: Element | undefined): ReadonlyMap<string, Uint8Array> {
  const extensions = new Map<string, Uint8Array>();
  if (wrapper === undefined) return extensions;
  const [list] = elements(wrapper.content);
  for (const extension of elements(sequence(list))) {
    const parts = elements(sequence(extension));
    const [id, value] = [parts[0], parts.at(-1)];
    if (id?.tag !== 0x06 || value?.tag !== 0x04) throw new Malformed();
    const name = hex(id.content);
    // RFC 5280 forbids a repeated extension: readers would differ on which one counts.
    if (extensions.has(name)) throw new Malformed();
    extensions.set(name, value.content);
  }
  return extensions;
}

function alternativeNames(extension: Uint8Array | undefined): readonly Element[] {
  if (extension === undefined) return [];
  const [list] = elements(extension);
  return elements(sequence(list));
}

function basicConstraints(extension: Uint8Array | undefined): Pick<CertificateFacts, 'isAuthority' | 'pathLength'> {
  if (extension === undefined) return { isAuthority: false, pathLength: undefined };
  const [list] = elements(extension);
  const [flag, length] = elements(sequence(list));
  const isAuthority = flag?.tag === 0x01 && flag.content[0] !== 0;
  if (length === undefined) return { isAuthority, pathLength: undefined };
  // A longer or negative number is no path length.
  const [value = 0x80, ...more] = length.content;
  if (length.tag !== 0x02 || more.length > 0 || value > 0x7f) throw new Malformed();
  return { isAuthority, pathLength: value };
}

/** A certificate that lists purposes is valid for these alone. */
function isForClients(extension: Uint8Array | undefined): boolean {
  if (extension === undefined) return true;
  const [list] = elements(extension);
  return elements(sequence(list)).some(({ tag, content }) => tag === 0x06 && CLIENT_PURPOSES.includes(hex(content)));
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function keyUsage(extension: Uint8Array | undefined): CertificateFacts['keyUsage'] {
  if (extension === undefined) return undefined;
  const [bits] = elements(extension);
  if (bits?.tag !== 0x03) throw new Malformed();
  const first = bits.content[1] ?? 0;
  return {
    digitalSignature: (first & 0x80) !== 0,
    keyAgreement: (first & 0x08) !== 0,
    signsCertificates: (first & 0x06) !== 0,
  };
}

function sequence(element: Element | undefined): Uint8Array {
  if (element?.tag !== 0x30) throw new Malformed();
  return element.content;
}

/** Names of hosts and URIs are ASCII. A zero byte is refused: other parsers have read only the part before it. */
function ascii({ content }: Element): string {
  if (content.some((byte) => byte < 0x21 || byte > 0x7e)) throw new Malformed();
  return String.fromCharCode(...content);
}

function time(element: Element | undefined): number {
  if (element === undefined || element.content.length > 15) throw new Malformed();
  const text = ascii(element);
  const [, year = '', month = '', day = '', hour = '', minute = '', second = ''] =
    (element.tag === 0x17 ? UTC_TIME : GENERALIZED_TIME).exec(text) ?? [];
  const century = year.length === 2 ? (Number(year) < 50 ? '20' : '19') : '';
  const instant = Date.parse(`${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(instant)) throw new Malformed();
  return instant;
}

const UTC_TIME = /^(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/;
const GENERALIZED_TIME = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/;

/** Splits bytes into consecutive elements, to the last byte. */
function elements(bytes: Uint8Array): readonly Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    const { length, start } = lengthAt(bytes, at + 1);
    if ((tag & 0x1f) === 0x1f || start + length > bytes.length) throw new Malformed();
    found.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}

/** Reads a length in the one form that DER allows, the shortest. */
function lengthAt(bytes: Uint8Array, at: number): { length: number; start: number } {
  const first = bytes[at];
  if (first === undefined) throw new Malformed();
  if (first < 0x80) return { length: first, start: at + 1 };
  const size = first & 0x7f;
  if (size === 0 || size > 3 || at + size >= bytes.length) throw new Malformed();
  let length = 0;
  for (let index = 1; index <= size; index++) length = length * 256 + (bytes[at + index] ?? 0);
  if (length < 0x80 || length < 256 ** (size - 1)) throw new Malformed();
  return { length, start: at + 1 + size };
}
