import { isGrantableScope, isOpaqueId } from '@svc/auth';
import { ALGORITHMS } from '@svc/auth/bearer';
import { z } from 'zod';
import { cidr } from './config-network.ts';

const opaqueId = z.string().refine(isOpaqueId, 'must be an opaque id: no @, white space or slash');
const grantable = z.string().refine(isGrantableScope, 'must be a scope such as runs:read');
const seconds = z.int().min(1);
const file = z.string().min(1);
const algorithm = z.enum(ALGORITHMS);
const issuerUrl = z
  .string()
  .regex(/^https?:\/\/[^\s?#@\\]+$/, 'must be an https URL without query or fragment')
  .refine(isProtected, 'must be https, or http on this machine');

/** The name of a claim, the names on the way to one inside of others, or a value for all tokens of the issuer. */
const claim = z.union([
  z.string().min(1),
  z.array(z.string()).min(1),
  z.strictObject({ value: z.union([z.string(), z.array(z.string())]) }),
]);

const issuer = z.strictObject({
  issuer: issuerUrl,
  audience: z.string().min(1),
  algorithms: z.array(algorithm).min(1).optional(),
  /** Where its keys are, when its metadata is not to be asked; or a file with them. */
  jwksUri: issuerUrl.optional(),
  jwksFile: file.optional(),
  claims: z
    .strictObject({
      tenant: claim.optional(),
      workspaces: claim.optional(),
      scopes: claim.optional(),
      mode: claim.optional(),
    })
    .optional(),
  /** The tenants that it may speak for. Default: all that are configured. */
  tenants: z.array(z.string()).min(1).optional(),
  /** Replaces `sub` by an opaque id, for issuers whose subjects are personal data. */
  pseudonymous: z.boolean().default(false),
  maxLifetimeSeconds: seconds.optional(),
  /** Takes tokens of the type JWT, where at+jwt is not in use. */
  plainJwt: z.boolean().optional(),
});

const issuers = z.strictObject({ issuers: z.array(issuer).min(1) });

const scheme = z.enum(['spiffe', 'mtls-san', 'cloud-subject', 'oauth-client']);

const binding = z.strictObject({
  scheme: scheme.optional(),
  issuer: z.string().min(1).optional(),
  subject: z.string().min(1),
  principal: opaqueId,
  principalKind: z.enum(['user', 'agent']).optional(),
  tenant: opaqueId,
  workspaces: z.array(z.string()).min(1),
  scopes: z.array(grantable),
  mode: z.enum(['live', 'test']).default('live'),
});

const workloadIdentity = z.strictObject({
  schemes: z.array(scheme).min(1),
  /** This host, as identities and delegations are made for it. */
  audience: z.string().min(1),
  senderConstraint: z.array(z.enum(['dpop', 'mtls'])).default([]),
  trustDomains: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z0-9._-]{1,255}$/, 'must be a trust domain such as acme.example'),
        /** The keys of its JWT-SVIDs, as a JSON Web Key Set. */
        jwksFile: file.optional(),
        /** The authorities of its X.509-SVIDs, in PEM. */
        authoritiesFile: file.optional(),
      }),
    )
    .default([]),
  mtlsSan: z.strictObject({ issuer: z.string().min(1), authoritiesFile: file }).optional(),
  issuers: z
    .array(
      z.strictObject({
        scheme: z.enum(['cloud-subject', 'oauth-client']),
        issuer: issuerUrl,
        jwksUri: issuerUrl.optional(),
        jwksFile: file.optional(),
      }),
    )
    .default([]),
  /** Which principal each workload is; a delegator is bound like one. */
  bindings: z.array(binding).default([]),
  delegation: z
    .strictObject({
      maxChainDepth: z.int().min(1).max(16),
      issuers: z.array(z.strictObject({ issuer: z.string().min(1), jwksFile: file })).min(1),
    })
    .optional(),
});

const authorization = z.strictObject({
  roles: z.array(z.strictObject({ role: opaqueId, scopes: z.array(grantable) })),
  assignments: z
    .array(
      z.strictObject({
        principal: opaqueId,
        workspace: z.string().min(1),
        role: opaqueId,
        /** Which tenant's workspace of that name. Default: every tenant's that has one. */
        tenant: opaqueId.optional(),
      }),
    )
    .default([]),
});

/** The parts of the configuration that say who may call, beside API keys. */
export const authenticationConfig = {
  oidc: issuers.optional(),
  oauth2: issuers.optional(),
  mtls: z
    .strictObject({
      trustedTerminator: z.array(cidr).min(1),
      header: z
        .string()
        .regex(/^[a-z0-9-]+$/, 'must be the name of a header in lower case')
        .default('x-forwarded-client-cert'),
    })
    .optional(),
  dpop: z.strictObject({ required: z.boolean().default(false), nonce: z.boolean().default(false) }).optional(),
  workloadIdentity: workloadIdentity.optional(),
  authorization: authorization.optional(),
};

function isProtected(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}
