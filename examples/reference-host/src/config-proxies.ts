import { z } from 'zod';
import { cidr } from './config-values.ts';

/** The key of the configuration for proxies that pass client certificates on. */
export const mtls = z.strictObject({
  trustedTerminator: z.array(cidr).min(1).describe('Addresses of the proxies that end TLS.'),
  header: z
    .string()
    .regex(/^[a-z0-9-]+$/, 'must be the name of a header. Write it in lower case, such as x-forwarded-client-cert.')
    .default('x-forwarded-client-cert')
    .describe('Header in which the proxies pass the client certificate on.'),
});

/** The key of the configuration for proxies that report the addresses of clients. */
export const trustedProxies = z.strictObject({
  cidrs: z.array(cidr).min(1).describe('Addresses of the proxies, such as 10.0.0.0/8.'),
  hops: z
    .int()
    .min(1)
    .optional()
    .describe('Most proxies in a row that are trusted. The address before them is the client. Default: no limit.'),
  header: z
    .enum(['x-forwarded-for', 'forwarded'])
    .default('x-forwarded-for')
    .describe('Header to which the proxies append the address of their client. The other one is never read.'),
});
