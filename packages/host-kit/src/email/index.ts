export type {
  AlignedSignature,
  AuthenticateEmailOptions,
  EmailAttachment,
  EmailAuthentication,
  EmailMailbox,
  EmailReader,
  ParsedEmail,
  SmtpFacts,
} from '../ports/email.ts';
export type { NameResolver } from './authenticate.ts';
export { type EmailReaderOptions, emailReader } from './reader.ts';
