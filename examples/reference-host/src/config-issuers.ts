import { z } from 'zod';

const ISSUER_FORM = 'must be https, or http on this machine. Give a URL without query, fragment and user name.';

/** The URL of an issuer. Over plain HTTP anyone on the network could answer for it. */
export const issuerUrl = z
  .string()
  .regex(/^https?:\/\/[^\s?#@\\]+$/, { error: ISSUER_FORM, abort: true })
  .refine(isProtected, ISSUER_FORM);

/** The URL of the public keys of an issuer. */
export const jwksUri = issuerUrl.optional().describe('URL of its public keys. Default: jwks_uri of its metadata.');

const claim = z.union(
  [
    z.string().min(1),
    z.array(z.string()).min(1),
    z.strictObject({
      value: z.union([z.string(), z.array(z.string())]).describe('Value for every token of the issuer.'),
    }),
  ],
  {
    error:
      'must say where the claim is. Give its name, the list of names on the way to it, or {"value": …} for every token.',
  },
);

/** The claims of the tokens of an issuer that hold its grants. */
export const claims = z.strictObject({
  tenant: claim.optional().describe('Claim with the tenant, one id. Default: svc_tenant.'),
  workspaces: claim
    .optional()
    .describe('Claim with a list of workspaces, or ["*"] for all of the tenant. Default: svc_workspaces.'),
  scopes: claim.optional().describe('Claim with scopes, a list or a text separated by spaces. Default: scope.'),
  mode: claim.optional().describe('Claim with live or test. Default: always live.'),
});

function isProtected(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}
