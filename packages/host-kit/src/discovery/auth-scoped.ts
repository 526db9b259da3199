import { z } from 'zod';

/** The `discovery` record: where an authenticated caller reads its own view. */
export const AUTH_SCOPED = z.strictObject({
  authScoped: z.strictObject({
    mode: z.enum(['same-endpoint', 'extension-endpoint']),
    endpointPath: z.string().regex(/^\//).optional(),
  }),
});

/** Returns the record of a host that serves the view at a path of its own. */
export function authScoped(endpointPath: string): z.infer<typeof AUTH_SCOPED> {
  return { authScoped: { mode: 'extension-endpoint', endpointPath } };
}
