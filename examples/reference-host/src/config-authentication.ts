import { ALGORITHMS } from '@svc/auth/bearer';
import { z } from 'zod';
import { cidr, durationSeconds, file, mode, opaqueId, scope } from './config-values.ts';

const ISSUER_FORM = 'must be https, or http on this machine. Give a URL without query, fragment and user name.';

const issuerUrl = z
  .string()
  .regex(/^https?:\/\/[^\s?#@\\]+$/, { error: ISSUER_FORM, abort: true })
  .refine(isProtected, ISSUER_FORM);

const algorithm = z.enum(ALGORITHMS);

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

const claims = z.strictObject({
  tenant: claim.optional().describe('Claim with the tenant, one id. Default: svc_tenant.'),
  workspaces: claim
    .optional()
    .describe('Claim with a list of workspaces, or ["*"] for all of the tenant. Default: svc_workspaces.'),
  scopes: claim.optional().describe('Claim with scopes, a list or a text separated by spaces. Default: scope.'),
  mode: claim.optional().describe('Claim with live or test. Default: always live.'),
});

const jwksUri = issuerUrl.optional().describe('URL of its public keys. Default: jwks_uri of its metadata.');

const issuer = z.strictObject({
  issuer: issuerUrl.describe('URL of the issuer, compared with iss character by character.'),
  audience: z.string().min(1).describe('Name of this host at the issuer. A token must have it in aud.'),
  algorithms: z
    .array(algorithm)
    .min(1)
    .optional()
    .describe('Accepted signature algorithms. Default: RS256, PS256, ES256, EdDSA and Ed25519.'),
  jwksUri,
  jwksFile: file.optional().describe('File with its public keys, a JSON Web Key Set. Replaces jwksUri.'),
  claims: claims.optional().describe('Claims that hold tenant, workspaces, scopes and mode.'),
  tenants: z
    .array(z.string())
    .min(1)
    .optional()
    .describe('Tenants for which the issuer may speak. Default: all tenants of this file.'),
  pseudonymous: z
    .boolean()
    .default(false)
    .describe('Replaces sub by an opaque id, for issuers whose subjects are personal data.'),
  maxLifetimeSeconds: durationSeconds
    .optional()
    .describe('Longest lifetime of a token, from iat to exp, in seconds. Default: 86400.'),
  plainJwt: z
    .boolean()
    .optional()
    .describe('Accepts machine tokens of the type JWT as well as at+jwt. Default: false.'),
});

const issuers = z.strictObject({ issuers: z.array(issuer).min(1).describe('Trusted issuers.') });

const scheme = z.enum(['spiffe', 'mtls-san', 'cloud-subject', 'oauth-client']);

const binding = z.strictObject({
  scheme: scheme.optional().describe('Scheme of the identity. Default: any.'),
  issuer: z.string().min(1).optional().describe('Issuer of the identity. Default: any.'),
  subject: z.string().min(1).describe('Subject of the identity, compared character by character.'),
  principal: opaqueId.describe('Opaque id of the workload.'),
  principalKind: z.enum(['user', 'agent']).optional().describe('Kind of the principal. Default: a workload.'),
  tenant: opaqueId.describe('Id of its tenant. It must be one of tenants.'),
  workspaces: z.array(z.string()).min(1).describe('Workspaces that it reaches. ["*"]: every workspace of its tenant.'),
  scopes: z.array(scope).describe('Scopes that it is granted.'),
  mode: mode.default('live').describe('Mode of the records that it reaches.'),
});

const trustDomain = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9._-]{1,255}$/, 'must be a trust domain. Write it without spiffe://, such as acme.example.')
    .describe('Name of the trust domain, such as acme.example.'),
  jwksFile: file.optional().describe('File with the keys of its JWT-SVIDs, a JSON Web Key Set.'),
  authoritiesFile: file.optional().describe('File with the authorities of its X.509-SVIDs, in PEM.'),
});

const mtlsSan = z.strictObject({
  issuer: z.string().min(1).describe('Name of the authorities, which bindings and delegations refer to.'),
  authoritiesFile: file.describe('File with the authorities of the client certificates, in PEM.'),
});

const workloadIssuer = z.strictObject({
  scheme: z.enum(['cloud-subject', 'oauth-client']).describe('Scheme of the identities that it issues.'),
  issuer: issuerUrl.describe('URL of the issuer, compared with iss character by character.'),
  jwksUri,
  jwksFile: file.optional().describe('File with its public keys, a JSON Web Key Set. Replaces jwksUri.'),
});

const delegation = z.strictObject({
  maxChainDepth: z.int().min(1).max(16).describe('Most links of a chain of delegations.'),
  issuers: z
    .array(
      z.strictObject({
        issuer: z.string().min(1).describe('Issuer of delegations.'),
        jwksFile: file.describe('File with its public keys, a JSON Web Key Set.'),
      }),
    )
    .min(1)
    .describe('Trusted issuers of delegations.'),
});

const workloadIdentity = z.strictObject({
  schemes: z.array(scheme).min(1).describe('Accepted schemes of identities.'),
  audience: z.string().min(1).describe('Name of this host. Identities and delegations must be issued for it.'),
  senderConstraint: z
    .array(z.enum(['dpop', 'mtls']))
    .default([])
    .describe('Ways in which an identity must be bound to its sender. Default: none is required.'),
  trustDomains: z.array(trustDomain).default([]).describe('Trust domains of the scheme spiffe.'),
  mtlsSan: mtlsSan.optional().describe('Authorities of the scheme mtls-san.'),
  issuers: z.array(workloadIssuer).default([]).describe('Issuers of the schemes cloud-subject and oauth-client.'),
  bindings: z.array(binding).default([]).describe('Principal of each workload. A delegator needs a binding, too.'),
  delegation: delegation.optional().describe('Delegations by which a workload acts for another one. Default: refused.'),
});

const role = z.strictObject({
  role: opaqueId.describe('Name of the role.'),
  scopes: z.array(scope).describe('Scopes that the role permits.'),
});

const assignment = z.strictObject({
  principal: opaqueId.describe('Opaque id of the principal.'),
  workspace: z.string().min(1).describe('Workspace in which the principal has the role.'),
  role: opaqueId.describe('Name of the role. It must be one of authorization.roles.'),
  tenant: opaqueId
    .optional()
    .describe('Tenant of the workspace. Default: every tenant that has a workspace of that name.'),
});

const authorization = z.strictObject({
  roles: z.array(role).describe('Roles with their scopes.'),
  assignments: z.array(assignment).default([]).describe('Roles of principals in workspaces.'),
});

const mtls = z.strictObject({
  trustedTerminator: z.array(cidr).min(1).describe('Addresses of the proxies that end TLS.'),
  header: z
    .string()
    .regex(/^[a-z0-9-]+$/, 'must be the name of a header. Write it in lower case, such as x-forwarded-client-cert.')
    .default('x-forwarded-client-cert')
    .describe('Header in which the proxies pass the client certificate on.'),
});

const dpop = z.strictObject({
  required: z.boolean().default(false).describe('Rejects access tokens that are not bound to a key.'),
  nonce: z.boolean().default(false).describe('Requires a nonce of this host in each proof.'),
});

/** The keys of the configuration that say who may call, beside tenants and API keys. */
export const authenticationConfig = {
  oidc: issuers.optional().describe('Tokens of people, by OpenID Connect. Default: not accepted.'),
  oauth2: issuers.optional().describe('Tokens of machines, by OAuth 2.0 client credentials. Default: not accepted.'),
  mtls: mtls.optional().describe('Client certificates that a proxy passes on. Default: no header is read.'),
  dpop: dpop
    .optional()
    .describe('Proof of possession (RFC 9449). Default: a bound token must prove its key, and none has to be bound.'),
  workloadIdentity: workloadIdentity.optional().describe('Identities of workloads. Default: not accepted.'),
  authorization: authorization
    .optional()
    .describe('Requires a role in the workspace beside the scope of the credential. Default: scopes decide alone.'),
};

function isProtected(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}
