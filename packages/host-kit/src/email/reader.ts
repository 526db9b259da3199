import type { EmailReader } from '../ports/email.ts';
import { authenticate, type NameResolver } from './authenticate.ts';
import { parse } from './parse.ts';

/** Options of `emailReader`. */
export interface EmailReaderOptions {
  /** Answers questions about DKIM, SPF and DMARC. */
  readonly resolver: NameResolver;
}

/**
 * Reads messages with mailauth 7 and postal-mime 4, which the application installs. It loads no web page and asks nothing but the
 * resolver.
 *
 * @example
 * import { Resolver } from 'node:dns/promises';
 *
 * const reader = emailReader({ resolver: new Resolver({ timeout: 2000, tries: 2 }) });
 * createHost({ ...options, triggers: { email: { reader } } });
 */
export function emailReader({ resolver }: EmailReaderOptions): EmailReader {
  return {
    authenticate: (message, smtp, options) => authenticate(resolver, message, smtp, options),
    parse,
  };
}
