import type { Major, Served } from '@svc/versioning';
import { z } from 'zod';
import { type WorkspaceDiscovery, workspaceView } from '../discovery/workspace-view.ts';
import { json } from '../http/description.ts';
import { type MountRoute, mountRoute } from '../http/route.ts';

/** The parts of {@link discoveryRoutes}. */
export interface DiscoveryRoutesOptions {
  /** The documents of both majors. They are made after the mounts, which they list. */
  readonly documents: () => Readonly<Record<Major, object>>;
  readonly views: WorkspaceDiscovery;
  readonly served: Pick<Served, 'majors' | 'preferredMajor'>;
}

/**
 * The route `/host/<org>/discovery`: the part of the discovery document that the workspaces of the caller see. The twin
 * under `/v1` answers the document of major 1; without it `SVC-Version: 1` or `2` chooses, by default the preferred
 * major.
 *
 * @see Interface: Authorization rules, item 5
 */
export function discoveryRoutes({ documents, views, served }: DiscoveryRoutesOptions): MountRoute[] {
  return [
    mountRoute({
      method: 'GET',
      path: '/discovery',
      describes: {
        operationId: 'readWorkspaceDiscovery',
        summary: 'Read the discovery document of a workspace',
        description: 'The families of the discovery document that each workspace of the caller sees.',
        headers: {
          'SVC-Version': z.string().optional().describe('The major, such as `2` or `2.0`. Default: the preferred one.'),
        },
        answers: { 200: json('The document.', z.looseObject({}), { headers: ['Cache-Control', 'Vary'] }) },
      },
      async serve({ principal, request, headers }) {
        const document = documents()[majorOf(request.url, headers.get('svc-version'))];
        return {
          status: 200,
          headers: { 'cache-control': 'private, max-age=60', vary: 'Authorization, SVC-Version' },
          body: JSON.parse(JSON.stringify(workspaceView(document, principal.tenancy, views))),
        };
      },
    }),
  ];

  function majorOf(url: string, version: string | null): Major {
    if (new URL(url).pathname.startsWith('/v1/')) return 1;
    const [, named] = /^([12])(?:\.[0-9]+)?$/.exec(version ?? '') ?? [];
    if (named === '1' && served.majors.has(1)) return 1;
    if (named === '2' && served.majors.has(2)) return 2;
    return served.preferredMajor;
  }
}
