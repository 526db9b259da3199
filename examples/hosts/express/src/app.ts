import { guard, principalOf } from '@svc/auth/express';
import { toNodeListener } from '@svc/host-kit/node';
import { operationOf, versioning } from '@svc/versioning/express';
import express, { type Express } from 'express';
import { workflows } from './engine.ts';
import type { AppHost } from './host.ts';

/** Makes the app around the host. `main.ts` serves it, and the tests call it. */
export function makeApp({ host, auth, versions }: AppHost): Express {
  const app = express();
  app.disable('x-powered-by');

  const negotiate = versioning({ served: versions });
  const mayReadWorkflows = guard({ authenticator: auth, scope: 'manifest:read' });

  // An operation of the protocol that the app serves itself, because the answer depends on the caller.
  app.get(['/workflows/:id', '/v1/workflows/:id'], negotiate, mayReadWorkflows, (request, response) => {
    const { major, params } = operationOf(request);
    const { tenancy } = principalOf(request);
    const workflow = workflows.get(params.workflowId ?? '');
    if (workflow === undefined)
      response.status(404).json({ error: 'not_found', message: 'There is no such workflow.' });
    else response.json({ workflowId: params.workflowId, name: workflow.name, tenant: tenancy.tenant, major });
  });

  // The host answers all other paths. It reads bodies itself, so no body parser may run before it.
  app.use(toNodeListener(host));

  return app;
}
