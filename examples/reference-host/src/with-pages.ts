import type { FeatureOptions, Host } from '@svc/host-kit';
import type { Config } from './config.ts';

/** Returns the host with its web pages in front of it. Loads a page only when it is configured. */
export async function withPages(
  host: Host,
  { console: operators, portal: customers }: Pick<Config, 'console' | 'portal'>,
): Promise<Pick<Host, 'answer'>> {
  const pages: { fetch(request: Request): Promise<Response | undefined> }[] = [];
  if (operators !== false) {
    const { createConsole } = await import('@svc/console');
    pages.push(createConsole(operators === true ? {} : operators));
  }
  if (customers !== false) {
    const { createPortal } = await import('@svc/console/portal');
    pages.push(createPortal({ path: portalPath(customers) }));
  }
  if (pages.length === 0) return host;
  return {
    async answer(request, peer, fault) {
      // A request with a fault of its framing is refused by the host, also on a path of a page.
      for (const page of fault === undefined ? pages : []) {
        const response = await page.fetch(request);
        if (response === undefined) continue;
        const bytes = new Uint8Array(await response.arrayBuffer());
        return {
          status: response.status,
          headers: Object.fromEntries(response.headers),
          body: bytes.length === 0 ? undefined : bytes,
        };
      }
      return host.answer(request, peer, fault);
    },
  };
}

/** The feature of the host for the sessions of the portal. */
export function portalOptions({ portal }: Pick<Config, 'portal'>, baseUrl: string): Pick<FeatureOptions, 'portal'> {
  if (portal === false) return {};
  const pageUrl = `${baseUrl}${portalPath(portal)}/`;
  return { portal: { pageUrl, ...(portal !== true && { maxOpenPerTenant: portal.maxOpenPerTenant }) } };
}

function portalPath(portal: Exclude<Config['portal'], false>): string {
  return portal === true ? '/portal' : portal.path;
}
