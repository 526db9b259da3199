import PostalMime, { type Address, type Attachment, addressParser, type Email } from 'postal-mime';
import type { EmailAttachment, EmailMailbox, ParsedEmail } from '../ports/email.ts';

/** Reads a message. A message inside it stays an attachment. @throws {Error} for a structure beyond the limits */
export async function parse(message: Uint8Array): Promise<ParsedEmail> {
  const email = await PostalMime.parse(message, {
    ...{ maxNestingDepth: MOST_DEPTH, maxHeadersSize: MOST_HEADER_BYTES, maxRfc822NestingDepth: 0 },
    forceRfc822Attachments: true,
  });
  return {
    from: authorsOf(email),
    replyTo: mailboxes(email.replyTo),
    to: mailboxes(email.to),
    cc: mailboxes(email.cc),
    ...line('subject', email.subject),
    ...line('date', email.date),
    ...line('messageId', email.messageId),
    ...line('inReplyTo', email.inReplyTo),
    ...(email.text !== undefined && { text: email.text }),
    ...(email.html !== undefined && { html: email.html }),
    attachments: email.attachments.map(attachmentOf),
  };
}

const MOST_DEPTH = 16;
/** Of all parts together. */
const MOST_HEADER_BYTES = 262_144;

/** The parser keeps the first author alone. */
function authorsOf({ headers }: Email): readonly EmailMailbox[] {
  const { value = '' } = headers.find(({ key }) => key === 'from') ?? {};
  return mailboxes(addressParser(value, { flatten: true }));
}

function mailboxes(addresses: readonly Address[] = []): readonly EmailMailbox[] {
  return addresses.flatMap((found) =>
    (found.group ?? [found]).map(({ name, address = '' }) => ({ name: oneLine(name), address: oneLine(address) })),
  );
}

function line<Name extends string>(name: Name, value: string | undefined): { readonly [Key in Name]?: string } {
  return value === undefined ? {} : ({ [name]: oneLine(value) } as { readonly [Key in Name]: string });
}

/** Encoded words may spell line ends, with which a later mail or header could be changed. */
function oneLine(value: string): string {
  return value.replace(CONTROLS, ' ').trim();
}

// Also the separators of lines and of paragraphs, and the marks that reverse the direction of a text.
const CONTROLS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

function attachmentOf({ filename, mimeType, content }: Attachment): EmailAttachment {
  // The last part of a path: no name may lead out of a folder.
  const name =
    oneLine(filename ?? '')
      .split(/[\\/]/)
      .at(-1)
      ?.slice(0, MOST_NAME) ?? '';
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : new Uint8Array(content);
  const mediaType = MEDIA_TYPE.test(mimeType) ? mimeType : 'application/octet-stream';
  return { name: name === '' || /^\.+$/.test(name) ? undefined : name, mediaType, content: bytes };
}

const MOST_NAME = 255;
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;
