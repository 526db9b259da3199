import { EmailRefused } from './refused.ts';

/** The header section of a message, and its body, both with CRLF at the end of each line. */
export interface FramedEmail {
  /** The whole message. */
  readonly message: Uint8Array;
  readonly body: Uint8Array;
  /** The number of header fields of each lower-case name. */
  readonly fields: ReadonlyMap<string, number>;
}

/**
 * Splits a message into header section and body, and bounds both, before any parser reads it. A field that parsers could read in
 * different ways is refused: otherwise the verification would judge one `From`, and the run would get another one.
 *
 * @throws {EmailRefused} `malformed`
 */
export function framedEmail(received: Uint8Array): FramedEmail {
  const message = withCrlf(received);
  const end = message.indexOf('\r\n\r\n');
  const header = message.subarray(0, end < 0 ? message.length : end + 2);
  if (header.length > MOST_HEADER_BYTES) throw malformed(`has a header section of over ${MOST_HEADER_BYTES} bytes`);
  const fields = countedFields(header.toString('latin1'));
  for (const name of ['from', 'date', ...ONCE]) {
    if ((fields.get(name) ?? 0) > 1) throw malformed(`has the header field ${name} several times`);
  }
  if (!fields.has('from')) throw malformed('has no header field from');
  for (const [name, most] of MOST_OF) {
    if ((fields.get(name) ?? 0) > most) throw malformed(`has over ${most} header fields ${name}`);
  }
  requireFewLines(message);
  return { message, body: end < 0 ? message.subarray(message.length) : message.subarray(end + 4), fields };
}

const MOST_HEADER_BYTES = 65_536;
const MOST_FIELDS = 300;
const MOST_FIELD_LENGTH = 16_384;
/** Lists of authors are short, and the verification parses them before the message is known to be authentic. */
const MOST_FROM_LENGTH = 2048;
/** Each part of a MIME structure begins with such a line. */
const MOST_DELIMITERS = 1000;
/** The time of a parser goes by lines. Those of Base64 have 76 characters. */
const MOST_LINES = 10_000;
const BYTES_OF_LINE = 40;

/** Each signature costs a question and a verification. */
const MOST_OF = [
  ['dkim-signature', 8],
  ['received', 100],
] as const;

/** RFC 5322, section 3.6, and RFC 2045: at most one of each. */
const ONCE = [
  ...['sender', 'reply-to', 'to', 'cc', 'bcc', 'message-id', 'in-reply-to', 'references', 'subject'],
  ...['mime-version', 'content-type', 'content-transfer-encoding', 'content-disposition', 'content-id'],
];

/** A relay may give a message with the line ends of its machine. DKIM signs CRLF. */
function withCrlf(received: Uint8Array): Buffer {
  const bytes = Buffer.from(received.buffer, received.byteOffset, received.byteLength);
  if (bytes.includes(0)) throw malformed('has a NUL character');
  const lines: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (at > 0 && bytes[at - 1] === CR) continue;
    lines.push(bytes.subarray(from, at), CRLF);
    from = at + 1;
    if (lines.length > 2 * mostLines(bytes)) throw tooManyLines();
  }
  return lines.length === 0 ? bytes : Buffer.concat([...lines, bytes.subarray(from)]);
}

const LF = 0x0a;
const CR = 0x0d;
const CRLF = Buffer.from('\r\n');

function countedFields(header: string): ReadonlyMap<string, number> {
  // A continuation belongs to the field before it. Its first line has no such field, and is refused below.
  const fields = header.slice(0, header.endsWith('\r\n') ? -2 : undefined).split(/\r\n(?![ \t])/);
  if (fields.length > MOST_FIELDS) throw malformed(`has over ${MOST_FIELDS} header fields`);
  const counted = new Map<string, number>();
  for (const field of fields) {
    const name = NAME.exec(field)?.[1]?.toLowerCase();
    if (name === undefined) throw malformed('has a line in its header section that is no header field');
    // Without the line ends of continuations. Another return is one that parsers may take for the end of the field.
    if (/[\r\n]/.test(field.replaceAll(/\r\n[ \t]/g, ' '))) throw malformed(`has a bare return in a header field`);
    if (/\r\n[ \t]*(?=\r\n|$)/.test(field)) throw malformed('has an empty continuation of a header field');
    const most = name === 'from' ? MOST_FROM_LENGTH : MOST_FIELD_LENGTH;
    if (field.length > most) throw malformed(`has a header field of over ${most} characters`);
    counted.set(name, (counted.get(name) ?? 0) + 1);
  }
  return counted;
}

// RFC 5322, section 3.6.8, without the obsolete white space before the colon.
const NAME = /^([!-9;-~]{1,76}):/;

function requireFewLines(message: Buffer): void {
  let lines = 0;
  let delimiters = 0;
  const most = mostLines(message);
  for (let at = message.indexOf(LF); at >= 0; at = message.indexOf(LF, at + 1)) {
    lines++;
    if (message[at + 1] === HYPHEN && message[at + 2] === HYPHEN) delimiters++;
    if (lines > most) throw tooManyLines();
    if (delimiters > MOST_DELIMITERS) throw malformed(`has over ${MOST_DELIMITERS} lines that begin with two hyphens`);
  }
}

const HYPHEN = 0x2d;

function mostLines({ length }: Buffer): number {
  return MOST_LINES + length / BYTES_OF_LINE;
}

function tooManyLines(): EmailRefused {
  return malformed(`has over ${MOST_LINES} lines, and over one for each ${BYTES_OF_LINE} bytes`);
}

function malformed(problem: string): EmailRefused {
  return new EmailRefused('malformed', problem);
}
