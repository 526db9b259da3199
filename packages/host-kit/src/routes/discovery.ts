import type { Published } from '../discovery/publish.ts';
import { matchesEtag } from '../http/conditional.ts';
import { publicRoute, type Route } from '../http/route.ts';

export function discoveryRoute(published: Published): Route {
  return publicRoute('discovery', async ({ major, headers: requestHeaders }) => {
    const { etag, bytes } = published[major];
    const headers = { etag, 'cache-control': 'public, max-age=300', vary: 'SVC-Version' };
    if (matchesEtag(requestHeaders.get('if-none-match'), etag)) return { status: 304, headers };
    return { status: 200, headers, body: bytes };
  });
}
