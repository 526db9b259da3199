import { createHash } from 'node:crypto';
import { mintId } from '@svc/versioning/ids';
import type { Json, JsonObject } from '../../json.ts';
import type {
  AlignedSignature,
  EmailAttachment,
  EmailAuthentication,
  ParsedEmail,
  SmtpFacts,
} from '../../ports/email.ts';
import type { Random } from '../../ports/random.ts';
import type { StartAttachment } from '../attachments.ts';
import { EmailRefused } from './refused.ts';

/**
 * The key for deduplication: the identity of the message and a digest of its body. The identity is `Message-ID` when every aligned
 * signature signs it. Otherwise it is that of a signature: an attacker who captures the message could change an unsigned `Message-ID`.
 *
 * @throws {EmailRefused} `malformed` for a message without both
 */
export function emailDedupKey(
  { messageId }: Pick<ParsedEmail, 'messageId'>,
  { signatures }: Pick<EmailAuthentication, 'signatures'>,
  body: Uint8Array,
): string {
  const content = createHash('sha256').update(body).digest('base64url');
  const identity = identityOf(messageId, signatures);
  return createHash('sha256')
    .update(JSON.stringify(['svc:email', ...identity, content]))
    .digest('base64url');
}

function identityOf(messageId: string | undefined, signatures: readonly AlignedSignature[]): readonly string[] {
  const without = signatures.filter(({ signedFields }) => !signedFields.includes('message-id'));
  const candidates = messageId === undefined ? signatures : without;
  const [first] = candidates.map(({ id }) => id).sort();
  if (first !== undefined) return ['signature', first];
  if (messageId === undefined) throw new EmailRefused('malformed', 'has no Message-ID');
  return ['message-id', messageId];
}

/** The members of the document of a mapping that are of the message. */
export interface EmailDocumentParts {
  readonly body: Json;
  /** The contents of the attachments, each with the id of its artifact. */
  readonly attachments: readonly StartAttachment[];
}

/** Makes the parts of the document. Attachments get the ids of the artifacts that the run will have. */
export function emailParts(
  { attachments, ...parsed }: ParsedEmail,
  { mailFrom, rcptTo }: SmtpFacts,
  { now, random }: { readonly now: () => number; readonly random: Random },
): EmailDocumentParts {
  const files = attachments.map((file) => ({ ...describedFile(file), artifactId: mintId('art', now, random) }));
  const body = {
    ...parsed,
    from: listOf(parsed.from),
    replyTo: listOf(parsed.replyTo),
    to: listOf(parsed.to),
    cc: listOf(parsed.cc),
    envelope: { from: mailFrom, to: [...rcptTo] },
    attachments: files,
  };
  const contents = attachments.map(({ content }) => Buffer.from(content).toString('base64'));
  return { body, attachments: files.map((file, index) => ({ ...file, content: contents[index] ?? '' })) };
}

function listOf(mailboxes: ParsedEmail['from']): Json {
  return mailboxes.map(({ name, address }) => ({ name, address }));
}

function describedFile({ name, mediaType, content }: EmailAttachment) {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { ...(name !== undefined && { name }), mediaType, size: content.byteLength, sha256 };
}

/** The document that a mapping reads: the message as `body`, the contents of its attachments, and facts of the host. */
export function emailDocument(
  { body, attachments }: EmailDocumentParts,
  { deliveryId, receivedAt }: { readonly deliveryId: string; readonly receivedAt: number },
): JsonObject {
  const contents = attachments.map((file) => ({ ...file }));
  return {
    ...{ id: deliveryId, source: 'email', receivedAt: new Date(receivedAt).toISOString(), body },
    ...(contents.length > 0 && { attachments: contents }),
  };
}
