import { z } from 'zod';

/** The first segments of the paths of the interface. */
const TAKEN = ['v1', 'v2', 'host', 'runs', 'webhooks', 'workflows', 'interrupts', 'audit', 'openapi'];

const pagePath = z
  .string()
  .regex(
    /^(?:\/[A-Za-z0-9-]{1,64}){1,8}$/,
    'must be segments of letters, digits and hyphens. Write a path such as /console.',
  )
  .refine((path) => !TAKEN.includes(path.split('/')[1] ?? ''), {
    error: 'must not begin with a path of the interface. Write a path such as /console.',
  });

/** The key of the configuration for the console. */
export const operatorConsole = z.union([
  z.boolean(),
  z.strictObject({ path: pagePath.default('/console').describe('Path of the page.') }),
]);

/** The key of the configuration for the portal. */
export const customerPortal = z.union([
  z.boolean(),
  z.strictObject({
    path: pagePath.default('/portal').describe('Path of the page.'),
    maxOpenPerTenant: z.int().min(1).default(1000).describe('The most sessions of a tenant that have not ended.'),
  }),
]);
