import { hexToBytes } from '@noble/hashes/utils.js';
import { base64url } from 'jose';
import { sha256Base64url } from '#sha256';

/** The format in which a terminator writes a certificate into a header. */
export type ForwardedFormat = 'xfcc' | 'rfc9440' | 'pem';

export interface ForwardedCertificate {
  readonly thumbprint: string;
  readonly der: Uint8Array | undefined;
}

/**
 * Reads a certificate from the header of a terminator. Other facts in the header are not used: they are read from the
 * certificate. Two certificates, which proxies in a row append, are refused.
 *
 * @see RFC 9440, section 2.2; Envoy, x-forwarded-client-cert
 */
export function forwardedCertificate(value: string, format: ForwardedFormat): ForwardedCertificate | undefined {
  if (value.length > MAX_LENGTH) return undefined;
  return READERS[format](value);
}

const MAX_LENGTH = 16_384;

const READERS: Readonly<Record<ForwardedFormat, (value: string) => ForwardedCertificate | undefined>> = {
  rfc9440: (value) => certificate(/^:([A-Za-z0-9+/]+={0,2}):$/.exec(value)?.[1]),
  pem: (value) => pem(percentDecoded(value)),
  xfcc: (value) => {
    const fields = xfccFields(value);
    const cert = fields?.get('cert');
    const hash = fields?.get('hash');
    if (cert !== undefined) {
      const found = pem(percentDecoded(cert));
      // A hash that disagrees with the certificate beside it discredits both.
      return hash === undefined || found?.thumbprint === hexThumbprint(hash) ? found : undefined;
    }
    const thumbprint = hexThumbprint(hash);
    return thumbprint === undefined ? undefined : { thumbprint, der: undefined };
  },
};

/** Parses one element of `key=value` pairs. Each key occurs once; a value with a separator is quoted. */
function xfccFields(value: string): ReadonlyMap<string, string> | undefined {
  const fields = new Map<string, string>();
  let rest = value;
  while (rest !== '') {
    const [pair, key = '', quoted, plain = ''] = PAIR.exec(rest) ?? [];
    if (pair === undefined) return undefined;
    // Repeated URI and DNS fields are usual; they are not read.
    if (fields.has(key.toLowerCase()) && !REPEATABLE.has(key.toLowerCase())) return undefined;
    fields.set(key.toLowerCase(), quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1'));
    rest = rest.slice(pair.length);
    if (rest.startsWith(';')) rest = rest.slice(1);
    else if (rest !== '') return undefined;
  }
  return fields;
}

const PAIR = /^([A-Za-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^",;]*))/;
const REPEATABLE: ReadonlySet<string> = new Set(['uri', 'dns']);

function hexThumbprint(hash = ''): string | undefined {
  return /^[0-9a-fA-F]{64}$/.test(hash) ? base64url.encode(hexToBytes(hash)) : undefined;
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function pem(text = ''): ForwardedCertificate | undefined {
  return certificate(PEM.exec(text)?.[1]?.replace(/[\r\n\t ]/g, ''));
}

/** Matches exactly one block. Some proxies turn its line ends into spaces or tabs. */
const PEM = /^\s*-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----\s*$/;

/** Without bytes there is no certificate, only a thumbprint that every empty block has. */
function certificate(base64 = ''): ForwardedCertificate | undefined {
  if (base64 === '' || !BASE64.test(base64)) return undefined;
  const der = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return { der, thumbprint: sha256Base64url(der) };
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
