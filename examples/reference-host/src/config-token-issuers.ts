import { ALGORITHMS } from '@svc/auth/bearer';
import { z } from 'zod';
import { claims, issuerUrl, jwksUri } from './config-issuers.ts';
import { statusLists } from './config-status-lists.ts';
import { durationSeconds, file } from './config-values.ts';

const algorithm = z.enum(ALGORITHMS);

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
    .max(31_536_000)
    .optional()
    .describe('Longest lifetime of a token, from iat to exp, in seconds. Default: 86400.'),
  statusLists: statusLists
    .optional()
    .describe('Status lists that have its revoked tokens. Default: the claim status is ignored.'),
  plainJwt: z
    .boolean()
    .optional()
    .describe('Accepts machine tokens of the type JWT as well as at+jwt. Default: false.'),
});

const backChannelLogout = z.strictObject({
  clientIds: z
    .array(z.string().min(1))
    .min(1)
    .describe('Ids of the clients at the issuer whose sessions it ends here, as in aud of its logout tokens.'),
  endsEverySession: z
    .boolean()
    .default(false)
    .describe('Ends every session of the person, for an issuer whose access tokens have no sid. Default: that of sid.'),
  plainJwt: z
    .boolean()
    .default(false)
    .describe('Accepts logout tokens of the type JWT, or without one, as well as logout+jwt.'),
});

/** The key of the configuration for the issuers of tokens of machines. */
export const issuers = z.strictObject({ issuers: z.array(issuer).min(1).describe('Trusted issuers.') });

/** The key of the configuration for the issuers of tokens of people. */
export const issuersOfPeople = z.strictObject({
  issuers: z
    .array(
      issuer.extend({
        backChannelLogout: backChannelLogout
          .optional()
          .describe('Logouts that the issuer sends to /host/<org>/logout. Default: not accepted.'),
      }),
    )
    .min(1)
    .describe('Trusted issuers.'),
});
