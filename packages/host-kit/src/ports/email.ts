/** The facts of the SMTP session in which a relay took a message. */
export interface SmtpFacts {
  /** The IP address of the client of the relay. */
  readonly clientAddress: string;
  /** The name that the client gave with `HELO` or `EHLO`. */
  readonly helo: string;
  /** The address of `MAIL FROM`. Empty: the null reverse-path of a bounce. */
  readonly mailFrom: string;
  /** The addresses of `RCPT TO`. */
  readonly rcptTo: readonly string[];
}

/** A DKIM signature that passed, covers the whole body, and belongs to the organisation of the author. */
export interface AlignedSignature {
  /** Identifies the signature: a digest of it. */
  readonly id: string;
  /** The lower-case names of the header fields that it signs. */
  readonly signedFields: readonly string[];
}

/** The result of DMARC, and the facts on which it rests. @see RFC 9989 */
export interface EmailAuthentication {
  /**
   * `pass`: an aligned DKIM signature or SPF passed. `none`: the domain of the author publishes no policy. `temperror`: the name
   * service did not answer, so the result is not known yet. `permerror`: the message has no single author domain.
   */
  readonly dmarc: 'pass' | 'fail' | 'none' | 'temperror' | 'permerror';
  /** The addresses of the authors, as `From` spells them. */
  readonly authors: readonly string[];
  /** Every aligned signature. Empty: DMARC passed by SPF alone, or not at all. */
  readonly signatures: readonly AlignedSignature[];
}

/** An address of a message with the name beside it, which may be empty. */
export interface EmailMailbox {
  readonly name: string;
  readonly address: string;
}

/** A file of a message. */
export interface EmailAttachment {
  /** The name that the sender gave it. Undefined: none. */
  readonly name: string | undefined;
  /** The media type that the sender gave it, in lower case. */
  readonly mediaType: string;
  readonly content: Uint8Array;
}

/** The content of a message. An absent member is one that the message does not have. */
export interface ParsedEmail {
  readonly from: readonly EmailMailbox[];
  readonly replyTo: readonly EmailMailbox[];
  readonly to: readonly EmailMailbox[];
  readonly cc: readonly EmailMailbox[];
  readonly subject?: string;
  readonly date?: string;
  readonly messageId?: string;
  readonly inReplyTo?: string;
  readonly text?: string;
  readonly html?: string;
  readonly attachments: readonly EmailAttachment[];
}

/** Options of `EmailReader.authenticate`. */
export interface AuthenticateEmailOptions {
  /** The time of the day at which signatures are judged, in ms since the epoch. */
  readonly now: number;
  /** Ends questions to the name service, whose answers then are missing: `temperror`. */
  readonly signal: AbortSignal;
}

/**
 * Verifies and reads messages. The host has checked their header sections and their numbers of lines before.
 * `@svc/host-kit/email` has one over mailauth and postal-mime.
 */
export interface EmailReader {
  /** Judges DKIM, SPF and DMARC. Never rejects because of the message or of the name service. */
  authenticate(message: Uint8Array, smtp: SmtpFacts, options: AuthenticateEmailOptions): Promise<EmailAuthentication>;
  /** Reads a message. @throws {Error} when its MIME structure is nested too deeply or its parts have too many headers */
  parse(message: Uint8Array): Promise<ParsedEmail>;
}
