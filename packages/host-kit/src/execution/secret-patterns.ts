import { decodedView, lowerCase, plainView } from './text-view.ts';

/** The fewest characters of a secret that can be redacted: a shorter one would also be found in innocent texts. */
export const SHORTEST_SECRET = 8;

/** A form in base64. The characters around it can have some bits of the secret. */
export interface Base64Pattern {
  readonly text: string;
  readonly isCutBefore: boolean;
  readonly isCutAfter: boolean;
}

/** The texts by which a secret is recognised, for each kind of view of a text. */
export interface SecretPatterns {
  /** In plain text with lower-case ASCII letters. */
  readonly plain: readonly string[];
  /** In base64 with the alphabet of RFC 4648, section 4, without line breaks. */
  readonly base64: readonly Base64Pattern[];
  /** In lower-case hexadecimal digits. */
  readonly hex: readonly string[];
}

/**
 * Makes the patterns of a secret: the secret itself, and its base64 and hexadecimal form. Each form is also made of the
 * JSON-escaped, URL-encoded and form-encoded secret, of UTF-16, and of the base64 and hexadecimal forms.
 *
 * @param secret printable ASCII
 */
export function secretPatterns(secret: string): SecretPatterns {
  const texts = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
    new URLSearchParams([['', secret]]).toString().slice(1),
  ];
  const once = [...texts.map((text) => Buffer.from(text)), Buffer.from(secret, 'utf16le')];
  const twice = [
    ...base64Patterns(Buffer.from(secret)).flatMap(({ text: form }) => [
      form,
      form.replaceAll('+', '-').replaceAll('/', '_'),
    ]),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('hex').toUpperCase(),
  ].map((text) => Buffer.from(text));
  const sources = [...once, ...twice];
  return {
    plain: distinct([secret, secret.replaceAll(' ', '+'), ...decodedForms(secret)].map(lowerCase)),
    base64: sources.flatMap(base64Patterns),
    hex: distinct(sources.map((bytes) => bytes.toString('hex'))),
  };
}

/**
 * Decodes a secret that has escapes itself, for example a connection string with `%40`. A text is decoded as a whole, so
 * this is the form of the secret in an escaped text. A form that would also be found in innocent texts is left out.
 */
function decodedForms(secret: string): string[] {
  const forms: string[] = [];
  for (let view = decodedView(plainView(secret)); view.text !== (forms.at(-1) ?? secret); view = decodedView(view)) {
    forms.push(view.text);
  }
  return forms.filter(({ length }) => length >= SHORTEST_SECRET);
}

/**
 * The base64 forms of bytes that begin at each of the three positions in a group. A character that also depends on the
 * bytes around them is left out.
 */
function base64Patterns(bytes: Buffer): Base64Pattern[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const bits = (before + bytes.length) * 8;
    const text = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
    return { text, isCutBefore: before > 0, isCutAfter: bits % 6 > 0 };
  });
}

function distinct(patterns: readonly string[]): string[] {
  return [...new Set(patterns)];
}
