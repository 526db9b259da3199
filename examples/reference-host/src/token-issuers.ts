import type { KeyFetch, pseudonyms, TokenIssuer } from '@svc/auth/bearer';
import { statusLists } from '@svc/auth/status-list';
import type { Config } from './config.ts';
import { defined } from './defined.ts';
import { keysIn } from './key-files.ts';

/** Returns the issuers of tokens that a configuration trusts. */
export function tokenIssuers(
  config: Config,
  principalOf: ReturnType<typeof pseudonyms>,
  fetch: KeyFetch,
): readonly TokenIssuer[] {
  const entry = (profile: 'user' | 'client', given: Issuer): TokenIssuer => {
    const {
      issuer,
      audience,
      algorithms,
      jwksUri,
      jwksFile,
      claims,
      pseudonymous,
      statusLists: lists,
      ...limits
    } = given;
    return {
      issuer,
      audience,
      profile,
      tenants: given.tenants ?? config.tenants.map(({ id }) => id),
      senderConstrained: config.dpop?.required ?? false,
      ...(algorithms !== undefined && { algorithms }),
      ...(jwksUri !== undefined && { jwksUri }),
      ...(jwksFile !== undefined && { keys: keysIn(jwksFile) }),
      ...(claims !== undefined && { claims: defined(claims) }),
      ...(pseudonymous && { principalOf }),
      ...(lists !== undefined && { statusLists: statusLists({ ...lists, fetch }) }),
      ...defined({ maxLifetimeSeconds: limits.maxLifetimeSeconds, plainJwt: limits.plainJwt }),
    };
  };
  return [
    ...(config.oauth2?.issuers ?? []).map((given) => entry('client', given)),
    ...(config.oidc?.issuers ?? []).map((given) => entry('user', given)),
  ];
}

type Issuer = NonNullable<Config['oauth2']>['issuers'][number];
