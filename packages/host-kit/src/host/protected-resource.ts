import { protectedResourceMetadata, protectedResourceUrl, SCOPES } from '@svc/auth';
import { tokenIssuers } from '../discovery/authentication.ts';
import type { Reply } from '../http/route.ts';
import type { Services } from './services.ts';

/**
 * The URL of the protected-resource metadata, for the `WWW-Authenticate` header of refusals. Only a host that accepts
 * tokens has one.
 *
 * @throws {TypeError} when the host accepts tokens and `baseUrl` is missing
 */
export function resourceMetadata({ authentication, baseUrl }: Pick<Services, 'authentication' | 'baseUrl'>): {
  readonly resourceMetadata?: string;
} {
  if (tokenIssuers(authentication).length === 0) return {};
  if (baseUrl === undefined)
    throw new TypeError(
      'createHost: baseUrl is required of a host that accepts tokens. Pass its public origin, such as https://svc.example.com.',
    );
  return { resourceMetadata: protectedResourceUrl(baseUrl) };
}

/** The protected-resource metadata by its path. @see RFC 9728, section 3 */
export function tokenDocuments({
  authentication,
  baseUrl,
}: Pick<Services, 'authentication' | 'baseUrl'>): ReadonlyMap<string, () => Promise<Reply>> {
  const issuers = tokenIssuers(authentication);
  if (issuers.length === 0 || baseUrl === undefined) return new Map();
  const { dpop } = authentication;
  const { origin, pathname } = new URL(baseUrl);
  const metadata = protectedResourceMetadata({
    resource: pathname === '/' ? origin : baseUrl,
    issuers,
    scopes: SCOPES.filter((scope) => !scope.startsWith('packs:')),
    ...(dpop !== undefined && { dpopAlgorithms: dpop.algorithms, requires: { dpop: dpop.required } }),
  });
  const body = new TextEncoder().encode(JSON.stringify(metadata));
  const headers = { 'cache-control': 'public, max-age=300' };
  return new Map([[new URL(protectedResourceUrl(baseUrl)).pathname, async () => ({ status: 200, headers, body })]]);
}
