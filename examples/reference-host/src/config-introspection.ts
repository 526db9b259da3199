import { z } from 'zod';
import { claims, issuerUrl, jwksUri } from './config-issuers.ts';
import { statusLists } from './config-status-lists.ts';
import { durationSeconds, file } from './config-values.ts';

/** The key of the configuration for opaque tokens. */
export const introspection = z
  .strictObject({
    issuer: issuerUrl.describe('URL of the issuer, compared with iss of its answers character by character.'),
    endpoint: issuerUrl.describe('URL of its introspection endpoint (RFC 7662).'),
    audience: z.string().min(1).describe('Name of this host at the issuer. An answer must have it in aud.'),
    clientId: z.string().min(1).describe('Id of this host at the issuer.'),
    clientSecretFile: file.optional().describe('File with the secret of this host at the issuer.'),
    privateKeyFile: file
      .optional()
      .describe('File with the private key of this host in PEM: P-256, Ed25519 or RSA. Replaces clientSecretFile.'),
    keyId: z.string().min(1).optional().describe('Key id (kid) of the private key. Default: left out.'),
    tokenPrefix: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Beginning of every token of the issuer. Default: any credential that is neither a signed token of another issuer nor a key of this host is sent to the endpoint.',
      ),
    claims: claims.optional().describe('Members of answers that hold tenant, workspaces, scopes and mode.'),
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
      .max(31_536_000)
      .optional()
      .describe('Longest lifetime of a token, from iat to exp, in seconds. Default: 86400.'),
    statusLists: statusLists
      .optional()
      .describe('Status lists that the member status of its answers names. Default: the member is ignored.'),
    jwksUri: jwksUri.describe('URL of the keys that sign its status lists. Default: jwks_uri of its metadata.'),
    jwksFile: file.optional().describe('File with these keys, a JSON Web Key Set. Replaces jwksUri.'),
    maxAgeSeconds: z
      .number()
      .min(0)
      .max(300)
      .default(30)
      .describe(
        'Longest use of the answer that a token is active, in seconds. A revoked token is accepted for as long.',
      ),
    inactiveSeconds: z
      .number()
      .min(0)
      .max(60)
      .default(5)
      .describe('Longest use of the answer that a token is not active, in seconds.'),
  })
  .refine(({ statusLists: lists, jwksUri: uri, jwksFile }) => lists !== undefined || (uri ?? jwksFile) === undefined, {
    path: ['statusLists'],
    error: 'is missing, and jwksUri and jwksFile have the keys of status lists alone. Give it, or remove them.',
  })
  .refine((given) => (given.clientSecretFile === undefined) !== (given.privateKeyFile === undefined), {
    path: ['clientSecretFile'],
    error: 'exactly one of clientSecretFile and privateKeyFile must be set. Give the one that the issuer expects.',
  });
