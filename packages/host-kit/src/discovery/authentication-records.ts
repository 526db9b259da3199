import { z } from 'zod';
import { count, list, text } from './families.ts';

/** The URL of an issuer. Plain http is for issuers on the same machine. */
const issuerUrl = z.url({ protocol: /^https?$/ });
/** The audience of each issuer, for a host with several issuers whose audiences differ. */
const issuerAudiences = list(z.strictObject({ issuer: issuerUrl, audience: text })).min(1);

/** The audit log. Major 1 has it within `auth`; in major 2 it is a record of its own. */
export const AUDIT_V2 = z.strictObject({
  checkpointSignatureAlgorithm: z.literal('ed25519'),
  checkpointPublicKey: text,
  checkpointIntervalEntries: count,
  checkpointIntervalSeconds: count,
});

/** Authentication in major 1: profiles and their parameters. */
export const AUTH_V1 = z.strictObject({
  supported: z.literal(true),
  profiles: list(
    z.enum([
      ...(['svc-auth-oidc-user-bearer', 'svc-auth-saml', 'svc-auth-scim', 'svc-auth-ldap'] as const),
      ...(['svc-auth-oauth2-client-credentials', 'svc-auth-api-key-rotation', 'svc-audit-log-integrity'] as const),
      'svc-auth-mtls',
    ]),
  ),
  oidc: z
    .strictObject({ issuers: list(issuerUrl).min(1), audience: text, issuerAudiences: issuerAudiences.optional() })
    .optional(),
  oauth2: z
    .strictObject({
      supported: z.literal(true),
      issuer: issuerUrl,
      audience: text,
      issuerAudiences: issuerAudiences.optional(),
      supportedAlgorithms: list(text).min(1),
    })
    .optional(),
  mtls: z
    .strictObject({ supported: z.literal(true), required: z.boolean(), subjectMapping: z.string().min(1).max(1024) })
    .optional(),
  rotation: z.strictObject({ supported: z.literal(true), minGraceSeconds: z.int().min(0) }).optional(),
  workloadIdentity: z
    .strictObject({
      supported: z.literal(true),
      schemes: list(z.enum(['spiffe', 'mtls-san', 'cloud-subject', 'oauth-client'])).min(1),
      senderConstraint: list(z.enum(['dpop', 'mtls'])),
      delegation: z.strictObject({ maxChainDepth: count }).optional(),
      subjectMapping: z.string().min(1).max(1024),
    })
    .optional(),
  subjectLinkKey: text.optional(),
  auditLogIntegrity: AUDIT_V2.safeExtend({ hashChain: z.literal(true) }).optional(),
});

/** Authentication in major 2: lanes. */
export const AUTH_V2 = z.strictObject({
  lanes: z
    .array(
      z.strictObject({
        lane: text,
        issuers: list(text).min(1),
        revocation: text,
        revocationWindowSeconds: count.optional(),
        delegationProofs: list(text).optional(),
        minimumAssurance: text,
      }),
    )
    .min(1),
});
