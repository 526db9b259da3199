import type { AttemptRecord } from '../ports/attempts.ts';
import { type AnsweredAttempt, type CapturedAnswer, sealedForAnswer } from '../ports/captured-answers.ts';
import type { Delivery } from '../ports/deliveries.ts';
import type { ReceivedFailure } from '../ports/transport.ts';
import { withoutSecrets } from '../runs/secret-shapes.ts';
import type { SecretBox } from '../sealing/secret-box.ts';

/** The rules of captured answers. */
export interface CaptureRules {
  /** The most bytes of a body. */
  readonly maxBytes: number;
  /** In ms. */
  readonly retentionMs: number;
  /** The names of the captured headers, in lower case. */
  readonly headers: readonly string[];
}

/** The answer of a failing receiver, as its owner sees it. */
export interface ShownAnswer {
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body as text. Bytes that are no UTF-8 are replacement characters. */
  readonly body: string;
  /** Whether the body was longer. */
  readonly isCut: boolean;
}

/** The answer to one attempt, and the things that it must not repeat. */
export interface AnswerToCapture {
  readonly attempt: AttemptRecord;
  readonly failure: ReceivedFailure;
  /** The headers that signed or authenticated the request. */
  readonly signature: Readonly<Record<string, string>>;
  readonly delivery: Pick<Delivery, 'body'>;
}

/**
 * Redacts and encrypts the answer of a failing receiver.
 *
 * @param now the time of the store, in ms since the epoch
 */
export function captured(
  secrets: Pick<SecretBox, 'seal'>,
  { maxBytes, retentionMs, headers }: CaptureRules,
  answer: AnswerToCapture,
  now: number,
): CapturedAnswer {
  const { webhookId, deliveryId, attempt, at } = answer.attempt;
  const place = { webhookId, deliveryId, attempt, at };
  const { failure, signature, delivery } = answer;
  const chosen = headers.flatMap((name) => {
    const value = failure.headers[name];
    return value === undefined ? [] : [[name, value.slice(0, MOST_HEADER_CHARACTERS)]];
  });
  const whole = UTF_8.decode(failure.body);
  const own = withoutEcho(whole, delivery.body);
  const text = redacted(own, signature);
  // Cut afterwards: of a secret that the cut divides, the beginning would not be recognised. The end of what was read may
  // divide one too, and a redaction before it moves it to the front. An echo ends the text before that.
  const bytes = new TextEncoder().encode(text);
  const isDivided = failure.isCut && own === whole && failure.body.length >= maxBytes + BYTES_BEYOND_CUT;
  const most = isDivided ? Math.min(maxBytes, Math.max(0, bytes.length - BYTES_BEYOND_CUT)) : maxBytes;
  const shown: ShownAnswer = {
    headers: redacted(Object.fromEntries(chosen), signature),
    body: UTF_8.decode(bytes.subarray(0, most)),
    isCut: failure.isCut || bytes.length > most,
  };
  const sealed = secrets.seal(JSON.stringify(shown), sealedForAnswer(place));
  return { ...place, expiresAt: Math.ceil(now) + retentionMs, sealed };
}

/** The owner sees what the receiver sent, also a U+FEFF at the start. */
const UTF_8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The bytes of a body that are read beyond those that are stored, to recognise a secret that begins before the cut. */
export const BYTES_BEYOND_CUT = 512;

/** Decrypts an answer. @throws {Error} when no key of this host opens it */
export function openedAnswer(
  secrets: Pick<SecretBox, 'open'>,
  answer: AnsweredAttempt & Pick<CapturedAnswer, 'sealed'>,
): ShownAnswer {
  return JSON.parse(secrets.open(answer.sealed, sealedForAnswer(answer)));
}

/**
 * Replaces secrets in every text of a value: those of a well-known shape, and the values that authenticated the request. An
 * error page often repeats the request.
 */
function redacted<T>(value: T, signature: AnswerToCapture['signature']): T {
  const proofs = Object.entries(signature).flatMap(([name, text]) => (NO_PROOF.test(name) ? [] : [text]));
  const sent = proofs.flatMap((text) => [text, ...text.split(/[\s,=]+/)]);
  const longestFirst = [...new Set(sent)].filter((text) => text.length >= SHORTEST_SECRET);
  longestFirst.sort((a, b) => b.length - a.length);
  const forms = longestFirst.map((text) => inEveryForm(text));
  const known: T = JSON.parse(JSON.stringify(value), (_name, member: unknown) => {
    if (typeof member !== 'string') return member;
    const without = forms.reduce((text, secret) => text.replace(secret, REDACTED), member);
    return without.replace(SIGNING_SECRET, REDACTED);
  });
  return withoutSecrets(known);
}

/**
 * Removes the text from where it repeats the delivery: its owner may not read runs. Receivers print it with other spaces and
 * quotation marks than it was sent with, and escape it.
 */
function withoutEcho(text: string, body: Uint8Array): string {
  // As a stream, so that a character that the cut divides is left out.
  const start = new TextDecoder().decode(body.subarray(0, ECHO_BYTES), { stream: true });
  if (start.length < SHORTEST_SECRET) return text;
  const place = text.search(inEveryForm(start, SPACES));
  return place === -1 ? text : `${text.slice(0, place)}${REDACTED}`;
}

/**
 * Returns an expression that matches a text as it is, and with its punctuation escaped as in a string, a page or a URL.
 *
 * @param between the pattern of the text that may follow each punctuation mark. Default: none.
 */
function inEveryForm(text: string, between = ''): RegExp {
  const pattern = text.replace(/[^A-Za-z0-9]/gu, (mark) => {
    const code = mark.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    const percent = [...new TextEncoder().encode(mark)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`);
    const forms = [
      String.raw`\\{0,4}\u{${hex}}`,
      String.raw`\\{1,4}u${anyCase(hex.padStart(4, '0'))}`,
      `&#(?:0{0,4}${code}|[xX]0{0,4}${anyCase(hex)});`,
      anyCase(percent.join('')),
      ...(NAMED[mark] ?? []),
    ];
    return `(?:${forms.join('|')})${between}`;
  });
  return new RegExp(pattern, 'gu');
}

function anyCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
}

/** Further forms of punctuation marks: their names in HTML, and the quotation marks of other languages. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  '"': ['&quot;', "'", '&apos;', '&#0{0,4}39;', '&#[xX]27;'],
  '&': ['&amp;'],
  '<': ['&lt;'],
  '>': ['&gt;'],
};

/** Headers that identify the delivery and prove nothing. An answer that repeats them tells more with them. */
const NO_PROOF = /-(?:id|type|timestamp)$/i;
const MOST_HEADER_CHARACTERS = 256;
const SHORTEST_SECRET = 12;
const ECHO_BYTES = 24;
/** Spaces, line breaks and tabs, also escaped. The limit keeps the time of a search linear. */
const SPACES = String.raw`(?:\s|\\[nrt]){0,64}`;
const REDACTED = '[redacted]';
const SIGNING_SECRET = /\bwhsec_[A-Za-z0-9+/=_-]+/g;
