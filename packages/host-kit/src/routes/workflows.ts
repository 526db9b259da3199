import { createHash } from 'node:crypto';
import { HostError, invalid } from '../errors.ts';
import { matchesEtag } from '../http/conditional.ts';
import { empty, json } from '../http/description.ts';
import { type AuthorizedCall, type Route, route } from '../http/route.ts';
import type { WorkflowEngine } from '../ports/engine.ts';
import { workflowDefinition } from '../wire/workflow.ts';

/**
 * Defines the route that reads workflow definitions, if the engine has `describe`. They are the same for every tenant.
 *
 * @see Interface: API keys, scope `manifest:read`
 */
export function workflowRoutes({ describe }: Pick<WorkflowEngine, 'describe'>): Route[] {
  if (describe === undefined) return [];
  return [
    route({
      operationId: 'readWorkflow',
      scope: 'manifest:read',
      describes: {
        tag: 'Workflows',
        summary: 'Read a workflow',
        description: 'The definition of a workflow, as the engine of this host gives it.',
        answers: {
          200: json('The definition that the engine gives.', workflowDefinition, { headers: HEADERS }),
          304: empty('The definition has not changed.', { headers: HEADERS }),
        },
        errors: ['not_found'],
      },
      async serve(call) {
        const definition = describe(workflowIdIn(call));
        if (definition === undefined) {
          throw new HostError('not_found', 'There is no such workflow.', { details: undefined });
        }
        const body = new TextEncoder().encode(JSON.stringify(definition));
        const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
        const headers = { etag, 'cache-control': 'private, no-cache' };
        if (matchesEtag(call.headers.get('if-none-match'), etag)) return { status: 304, headers };
        return { status: 200, headers, body };
      },
    }),
  ];
}

const HEADERS = ['ETag', 'Cache-Control'] as const;

function workflowIdIn({ params }: AuthorizedCall): string {
  try {
    return decodeURIComponent(params.workflowId ?? '');
  } catch {
    throw invalid({ field: 'path.workflowId', problem: 'must be percent-encoded UTF-8' });
  }
}
