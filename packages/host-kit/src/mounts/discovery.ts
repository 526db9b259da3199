import type { Major } from '@svc/versioning';
import { z } from 'zod';
import { type WorkspaceDiscovery, workspaceView } from '../discovery/workspace-view.ts';
import { json } from '../http/description.ts';
import { type MountRoute, mountRoute } from '../http/route.ts';
import { addressedMajor, type ServedMajors, VERSION_HEADER } from './addressed-major.ts';

/** The parts of {@link discoveryRoutes}. */
export interface DiscoveryRoutesOptions {
  /** The documents of both majors. They are made after the mounts, which they list. */
  readonly documents: () => Readonly<Record<Major, object>>;
  readonly views: WorkspaceDiscovery;
  readonly served: ServedMajors;
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
        headers: VERSION_HEADER,
        answers: { 200: json('The document.', z.looseObject({}), { headers: ['Cache-Control', 'Vary'] }) },
      },
      async serve({ principal, request, headers }) {
        const document = documents()[addressedMajor(request.url, headers, served)];
        return {
          status: 200,
          headers: { 'cache-control': 'private, max-age=60', vary: 'Authorization, SVC-Version' },
          body: JSON.parse(JSON.stringify(workspaceView(document, principal.tenancy, views))),
        };
      },
    }),
  ];
}
