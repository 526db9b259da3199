import { Resolver } from 'node:dns/promises';
import type { EmailOptions } from '@svc/host-kit';
import type { Config } from './config.ts';

type Email = NonNullable<NonNullable<Config['triggers']>['email']>;

/** Makes the reader of messages, which loads mailauth and postal-mime. */
export async function configuredEmail({
  nameServers,
  nameServerTimeoutSeconds,
  ...limits
}: Email): Promise<EmailOptions> {
  const { emailReader } = await import('@svc/host-kit/email');
  const resolver = new Resolver({ timeout: nameServerTimeoutSeconds * 1000, tries: 2 });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  return { reader: emailReader({ resolver }), ...limits };
}
