import { mintId } from '@svc/versioning/ids';
import { type AuditAction, factAboutTrigger } from '../../audit/fact.ts';
import { HostError, invalid } from '../../errors.ts';
import { type Clock, sleep } from '../../ports/clock.ts';
import type { EmailAuthentication, EmailReader, ParsedEmail, SmtpFacts } from '../../ports/email.ts';
import type { TriggerOf } from '../../ports/triggers.ts';
import { type Taken, takeMessage } from '../receive.ts';
import type { StartOptions } from '../start.ts';
import { requireRecipients, requireSenders } from './allow-lists.ts';
import { framedEmail } from './framing.ts';
import { emailDedupKey, emailDocument, emailParts } from './message.ts';
import { EmailRefused } from './refused.ts';

/** The bounds of the attachments of a message. */
export interface AttachmentLimits {
  /** The most attachments of a message. */
  readonly maxAttachments: number;
  /** The size of the largest attachment, in bytes. */
  readonly maxAttachmentBytes: number;
  /** The size of all attachments of a message, in bytes. */
  readonly maxAttachmentsBytes: number;
}

export interface ReceiveEmailOptions extends StartOptions {
  readonly reader: EmailReader;
  readonly attachmentLimits: AttachmentLimits;
}

/** A message as an authentic relay posted it. */
export interface RelayedEmail {
  readonly message: Uint8Array;
  readonly smtp: SmtpFacts;
}

/**
 * Takes a message of a relay. When it resolves, the message is durable, together with its run. A refused one starts no run, and is one
 * audit fact with its reason.
 *
 * @throws {HostError} `validation_error` for a malformed message and one beyond the limits; `forbidden` when DMARC does not pass, or
 *   the trigger does not list the sender or a recipient; `service_unavailable` when DMARC cannot be judged now, and as `receiveMessage`
 */
export async function receiveEmail(
  options: ReceiveEmailOptions,
  trigger: TriggerOf<'email'>,
  relayed: RelayedEmail,
  signal: AbortSignal,
): Promise<Extract<Taken, { kind: 'taken' }>> {
  const { storeClock, random, clock } = options;
  try {
    const { smtp } = relayed;
    requireRecipients(trigger.email, smtp.rcptTo);
    const { message, body } = framedEmail(relayed.message);
    const authentication = await authenticated(options, message, smtp, signal);
    requireSenders(trigger.email, authentication.authors);
    const parsed = await parsedEmail(options, message, authentication);
    const parts = emailParts(parsed, smtp, { now: clock.now, random });
    return await takeMessage(options, trigger, {
      deliveryId: mintId('dlv', storeClock.now, random),
      dedupKey: emailDedupKey(parsed, authentication, body),
      document: (facts) => emailDocument(parts, facts),
    });
  } catch (error) {
    if (!(error instanceof EmailRefused)) throw error;
    await recordRefusal(options, trigger, error);
    throw refusalOf(error);
  }
}

/** @throws {EmailRefused} when DMARC does not pass */
async function authenticated(
  { reader, clock }: ReceiveEmailOptions,
  message: Uint8Array,
  smtp: SmtpFacts,
  signal: AbortSignal,
): Promise<EmailAuthentication> {
  const ending = endAfter(clock, NAME_SERVICE_MS, signal);
  try {
    const found = await reader.authenticate(message, smtp, { now: clock.now(), signal: ending.signal });
    if (found.dmarc === 'pass') return found;
    throw new EmailRefused(`dmarc-${found.dmarc}`, DMARC_PROBLEMS[found.dmarc]);
  } finally {
    ending.cancel();
  }
}

const NAME_SERVICE_MS = 15_000;
const DMARC_PROBLEMS = {
  fail: 'fails DMARC: no aligned signature and no aligned SPF passes',
  none: 'is of a domain that publishes no DMARC policy',
  permerror: 'fails DMARC: it has no single author domain',
  temperror: 'could not be judged by DMARC, because the name service did not answer',
} as const;

function endAfter(clock: Clock, ms: number, outer: AbortSignal) {
  const [late, done] = [new AbortController(), new AbortController()];
  sleep(clock, ms, done.signal).then(
    () => late.abort(),
    () => {},
  );
  return { signal: AbortSignal.any([late.signal, outer]), cancel: () => done.abort() };
}

/** @throws {EmailRefused} for a message beyond the limits, or whose authors parsers read in different ways */
async function parsedEmail(
  { reader, attachmentLimits: limits }: ReceiveEmailOptions,
  message: Uint8Array,
  { authors }: EmailAuthentication,
): Promise<ParsedEmail> {
  const parsed = await reader.parse(message).catch(() => {
    throw new EmailRefused('beyond-limits', 'is nested too deeply, or its parts have too many headers');
  });
  const { attachments } = parsed;
  const isSame = JSON.stringify(parsed.from.map(({ address }) => address)) === JSON.stringify(authors);
  if (!isSame) throw new EmailRefused('malformed', 'has a From that can be read in several ways');
  if ([parsed.to, parsed.cc, parsed.replyTo].some(({ length }) => length > MOST_ADDRESSES))
    throw new EmailRefused('beyond-limits', `has a list of over ${MOST_ADDRESSES} addresses`);
  const { maxAttachments, maxAttachmentBytes, maxAttachmentsBytes } = limits;
  if (attachments.length > maxAttachments)
    throw new EmailRefused('beyond-limits', `has over ${maxAttachments} attachments`);
  if (attachments.some(({ content }) => content.byteLength > maxAttachmentBytes))
    throw new EmailRefused('beyond-limits', `has an attachment of over ${maxAttachmentBytes} bytes`);
  if (attachments.reduce((total, { content }) => total + content.byteLength, 0) > maxAttachmentsBytes)
    throw new EmailRefused('beyond-limits', `has attachments of over ${maxAttachmentsBytes} bytes`);
  return parsed;
}

const MOST_ADDRESSES = 200;

async function recordRefusal(
  { store, recordAudit, clock, counted }: ReceiveEmailOptions,
  trigger: TriggerOf<'email'>,
  { reason }: EmailRefused,
): Promise<void> {
  const action: AuditAction = 'trigger.refuse';
  const fact = factAboutTrigger(trigger, { action, at: clock.now(), details: { reason } });
  await store.transaction((transaction) => recordAudit(fact, transaction));
  counted(trigger.source, 'refused');
}

function refusalOf({ reason, message, problem }: EmailRefused): HostError {
  switch (reason) {
    case 'malformed':
    case 'beyond-limits':
      return invalid({ field: 'body', problem });
    case 'dmarc-temperror':
      return new HostError('service_unavailable', `${message} Send it again later.`, {
        ...{ details: undefined, headers: { 'retry-after': '60' } },
      });
    default:
      return new HostError('forbidden', message, { details: undefined });
  }
}
