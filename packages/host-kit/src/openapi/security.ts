import type { RouteCredential } from '../http/description.ts';
import type { JsonObject } from '../json.ts';
import type { DescribedHost } from './described-host.ts';

/**
 * The Security Scheme Objects of a host: its credentials.
 *
 * @param credential the bearer credential, in a sentence
 */
export function securitySchemes({ acceptsDpop }: DescribedHost, credential: string = OF_HOST): JsonObject {
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: credential,
    },
    ...(acceptsDpop && {
      dpop: {
        type: 'http',
        scheme: 'DPoP',
        description: 'An access token that is bound to a key, with a proof of possession of that key (RFC 9449).',
      },
    }),
  };
}

/** The Security Scheme Object of a credential that some public routes take. */
export function schemeOf({ description }: RouteCredential): JsonObject {
  return { type: 'http', scheme: 'bearer', description };
}

const OF_HOST =
  'An API key, or an access token of an issuer in the discovery document. Operations list the scopes they need.';
