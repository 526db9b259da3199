import { z } from 'zod';
import { issuerUrl, jwksUri } from './config-issuers.ts';
import { statusLists } from './config-status-lists.ts';
import { file, mode, opaqueId, scope } from './config-values.ts';

const scheme = z.enum(['spiffe', 'mtls-san', 'cloud-subject', 'oauth-client']);

const binding = z.strictObject({
  scheme: scheme.optional().describe('Scheme of the identity. Default: any.'),
  issuer: z
    .string()
    .min(1)
    .optional()
    .describe('Issuer of the identity. Default: the one issuer that can name the subject.'),
  subject: z.string().min(1).describe('Subject of the identity, compared character by character.'),
  principal: opaqueId.describe('Opaque id of the workload.'),
  principalKind: z.enum(['user', 'agent']).optional().describe('Kind of the principal. Default: a workload.'),
  tenant: opaqueId.describe('Id of its tenant. It must be one of tenants.'),
  workspaces: z.array(z.string()).min(1).describe('Workspaces that it reaches. ["*"]: every workspace of its tenant.'),
  scopes: z.array(scope).describe('Scopes that it is granted.'),
  mode: mode.default('live').describe('Mode of the records that it reaches.'),
});

const listsOfTokens = statusLists
  .optional()
  .describe('Status lists that have its revoked tokens. Default: the claim status is ignored.');

const trustDomain = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9._-]{1,255}$/, 'must be a trust domain. Write it without spiffe://, such as acme.example.')
    .describe('Name of the trust domain, such as acme.example.'),
  jwksFile: file.optional().describe('File with the keys of its JWT-SVIDs, a JSON Web Key Set.'),
  statusLists: listsOfTokens,
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
  statusLists: listsOfTokens,
});

const issuerGrant = z.strictObject({
  tenant: opaqueId.describe('Id of the tenant. It must be one of tenants.'),
  issuer: z
    .string()
    .min(1)
    .describe('Issuer of the identities: a URL of issuers, a trust domain such as spiffe://acme.example, or another.'),
  subjectPrefix: z
    .string()
    .regex(
      /[^\p{L}\p{N}._-]$/u,
      'must end with a character that separates names. Write it up to a / or :, such as repo:acme/.',
    )
    .optional()
    .describe(
      'Beginning of the subjects, for an issuer that tenants share, such as repo:acme/. Default: all subjects.',
    ),
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

/** The key of the configuration for the identities of workloads. */
export const workloadIdentity = z
  .strictObject({
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
    grants: z
      .array(issuerGrant)
      .default([])
      .describe(
        'Identities that callers of a tenant bind themselves, over /host/<org>/workload-bindings. Default: none.',
      ),
    delegation: delegation
      .optional()
      .describe('Delegations by which a workload acts for another one. Default: refused.'),
  })
  .superRefine((workloads, context) => {
    for (const [index, { jwksFile, statusLists }] of workloads.trustDomains.entries()) {
      if (statusLists === undefined || jwksFile !== undefined) continue;
      context.addIssue({
        code: 'custom',
        path: ['trustDomains', index, 'jwksFile'],
        message: 'is missing, and its keys verify the statusLists. Give it, or remove statusLists.',
      });
    }
    for (const [index, binding] of workloads.bindings.entries()) {
      if (issuersOfBinding(workloads, binding).length <= 1) continue;
      context.addIssue({
        code: 'custom',
        path: ['bindings', index, 'issuer'],
        message: 'is missing, and more than one issuer can name this subject. Give the issuer of the binding.',
      });
    }
  });

type Workloads = z.output<typeof workloadIdentity>;

/** The issuers of a configuration, as identities and delegations name them. */
export function workloadIssuers({
  trustDomains,
  issuers,
  mtlsSan: san,
  delegation,
}: Pick<Workloads, 'trustDomains' | 'issuers' | 'mtlsSan' | 'delegation'>): readonly string[] {
  return [
    ...trustDomains.map(({ name }) => `spiffe://${name}`),
    ...issuers.map(({ issuer }) => issuer),
    ...(san === undefined ? [] : [san.issuer]),
    ...(delegation?.issuers ?? []).map(({ issuer }) => issuer),
  ];
}

/**
 * Returns the issuers that can name the subject of a binding. Two of them could mean two workloads. The issuers of
 * delegations are considered only for a subject that no identity can have: such a binding is of a delegator.
 */
export function issuersOfBinding(
  { trustDomains, issuers, mtlsSan: san, schemes, delegation }: Omit<Workloads, 'bindings' | 'grants'>,
  { scheme: wanted, issuer, subject }: Pick<Workloads['bindings'][number], 'scheme' | 'issuer' | 'subject'>,
): readonly string[] {
  if (issuer !== undefined) return [issuer];
  const isUsed = (scheme: Workloads['schemes'][number]) =>
    schemes.includes(scheme) && (wanted === undefined || wanted === scheme);
  const isSpiffe = subject.startsWith('spiffe://');
  const direct = isSpiffe
    ? trustDomains.map(({ name }) => `spiffe://${name}`).filter((root) => subject.startsWith(`${root}/`))
    : [
        ...issuers.filter((entry) => isUsed(entry.scheme)).map((entry) => entry.issuer),
        ...(san !== undefined && isUsed('mtls-san') ? [san.issuer] : []),
      ];
  return direct.length > 0 ? direct : (delegation?.issuers.map((entry) => entry.issuer) ?? []);
}
