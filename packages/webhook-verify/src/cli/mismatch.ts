import { prepareHmac } from '../hmac/node.ts';
import { sameDigest } from '../signature.ts';

/** Tries the ways in which bodies and secrets are spoiled most often, and says which one it was. */
export function explainMismatch(
  body: Uint8Array,
  timestamp: string,
  claimed: string,
  secrets: readonly string[],
): string {
  const text = Buffer.from(body).toString('utf8');
  const keys = secrets.map((secret) => Buffer.from(secret));
  const fits = (bytes: string | Uint8Array, key: Uint8Array, prefix = `${timestamp}.`) =>
    key.length > 0 && sameDigest(prepareHmac(key)(prefix, bytes), claimed);
  for (const [why, changed] of changedBodies(text)) {
    if (keys.some((key) => fits(changed, key))) return `No match for these bytes, but a match ${why}.`;
  }
  for (const [why, key] of secrets.flatMap(changedSecrets)) {
    if (fits(body, key)) return `No match under this secret, but a match ${why}.`;
  }
  if (keys.some((key) => fits(body, key, ''))) {
    return 'The signature covers the body alone: the sender left out the timestamp and the dot.';
  }
  return `None of ${secrets.length === 1 ? 'the one secret' : `the ${secrets.length} secrets`} gives this signature for these ${body.length} bytes. Is it the secret of this subscription, and are these the bytes as received?`;
}

function changedBodies(text: string): [why: string, body: string][] {
  return [
    ['without the final newline, which an editor adds', text.replace(/\r?\n$/, '')],
    ['with a final newline, which the capture has lost', `${text}\n`],
    ['with LF line ends instead of CRLF', text.replaceAll('\r\n', '\n')],
    ['with CRLF line ends instead of LF', text.replace(/(?<!\r)\n/g, '\r\n')],
    ['without the byte order mark', text.replace(/^\uFEFF/, '')],
    ['with the JSON written without spaces: something has formatted it', rewritten(text)],
    ['with the JSON indented by two spaces: something has compacted it', rewritten(text, 2)],
  ];
}

function rewritten(text: string, indent?: number): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, indent);
  } catch {
    return text;
  }
}

function changedSecrets(secret: string): [why: string, key: Uint8Array][] {
  return [
    ['with its hexadecimal decoded: the sender must use the text as the key', Buffer.from(secret, 'hex')],
    [
      'with its base64 decoded: the sender must use the text as the key',
      Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
    ],
  ];
}
