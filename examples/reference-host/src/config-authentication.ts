import { z } from 'zod';
import { authorization } from './config-authorization.ts';
import { introspection } from './config-introspection.ts';
import { mtls, trustedProxies } from './config-proxies.ts';
import { stepUpRule } from './config-step-up.ts';
import { issuers, issuersOfPeople } from './config-token-issuers.ts';
import { workloadIdentity } from './config-workload-identity.ts';

const dpop = z.strictObject({
  required: z.boolean().default(false).describe('Rejects access tokens that are not bound to a key.'),
  nonce: z.boolean().default(false).describe('Requires a nonce of this host in each proof.'),
});

/** The keys of the configuration that say who may call, beside tenants and API keys. */
export const authenticationConfig = {
  oidc: issuersOfPeople.optional().describe('Tokens of people, by OpenID Connect. Default: not accepted.'),
  oauth2: issuers.optional().describe('Tokens of machines, by OAuth 2.0 client credentials. Default: not accepted.'),
  introspection: introspection
    .optional()
    .describe('Opaque tokens, which their issuer is asked about (RFC 7662). Default: not accepted.'),
  mtls: mtls.optional().describe('Client certificates that a proxy passes on. Default: no header is read.'),
  trustedProxies: trustedProxies
    .optional()
    .describe('Proxies that report the addresses of clients. Default: the address of the connection counts.'),
  dpop: dpop
    .optional()
    .describe('Proof of possession (RFC 9449). Default: a bound token must prove its key, and none has to be bound.'),
  workloadIdentity: workloadIdentity.optional().describe('Identities of workloads. Default: not accepted.'),
  stepUp: z
    .array(stepUpRule)
    .default([])
    .describe('Operations that need a strong or a recent sign-in (RFC 9470). Default: none.'),
  authorization: authorization
    .optional()
    .describe('Requires a role in the workspace beside the scope of the credential. Default: scopes decide alone.'),
};
