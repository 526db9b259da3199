import { prepareHmac } from '../hmac/node.ts';
import { sameDigest } from '../signature.ts';

/** Explains a wrong signature: tries the most frequent changes of bodies and secrets, and names the one that fits. */
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
    if (keys.some((key) => fits(changed, key)))
      return `The signature does not match these bytes; it matches the body ${why}.`;
  }
  for (const [why, key] of secrets.flatMap(changedSecrets)) {
    if (fits(body, key)) return `The signature does not match this secret; it matches the secret ${why}.`;
  }
  if (keys.some((key) => fits(body, key, ''))) {
    return 'The signature covers only the body. The sender must sign the timestamp, a dot and the body.';
  }
  const tried = secrets.length === 1 ? 'The secret does' : `The ${secrets.length} secrets do`;
  const remedy = 'Pass the secret of this subscription and the body as received.';
  return `${tried} not give this signature for these ${body.length} bytes. ${remedy}`;
}

function changedBodies(text: string): [why: string, body: string][] {
  return [
    ['without the final newline, which an editor adds', text.replace(/\r?\n$/, '')],
    ['with a final newline, which the capture lacks', `${text}\n`],
    ['with LF line ends instead of CRLF', text.replaceAll('\r\n', '\n')],
    ['with CRLF line ends instead of LF', text.replace(/(?<!\r)\n/g, '\r\n')],
    ['without the byte order mark', text.replace(/^\uFEFF/, '')],
    ['with its JSON written without spaces: a program formatted it', rewritten(text)],
    ['with its JSON indented by two spaces: a program compacted it', rewritten(text, 2)],
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
    ['with its hexadecimal decoded; the sender must use the text as the key', Buffer.from(secret, 'hex')],
    [
      'with its base64 decoded; the sender must use the text as the key',
      Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
    ],
  ];
}
