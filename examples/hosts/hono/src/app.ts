import type { HttpBindings } from '@hono/node-server';
import { guard, principalOf } from '@svc/auth/hono';
import { peerOf } from '@svc/auth/node';
import { operationOf, versioning } from '@svc/versioning/hono';
import { Hono } from 'hono';
import { workflows } from './engine.ts';
import type { AppHost } from './host.ts';

/** Makes the app around the host. `main.ts` serves it, and the tests call it. */
export function makeApp({ host, auth, versions }: AppHost): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();

  // An operation of the protocol that the app serves itself, because the answer depends on the caller.
  for (const path of ['/workflows/:id', '/v1/workflows/:id']) {
    app.use(path, versioning({ served: versions }), guard({ authenticator: auth, scope: 'manifest:read' }));
    app.get(path, (c) => {
      const { major, params } = operationOf(c);
      const { tenancy } = principalOf(c);
      const workflow = workflows.get(params.workflowId ?? '');
      if (workflow === undefined) return c.json({ error: 'not_found', message: 'There is no such workflow.' }, 404);
      return c.json({ workflowId: params.workflowId, name: workflow.name, tenant: tenancy.tenant, major });
    });
  }

  // The host answers all other paths. It reads bodies itself, so no middleware may read them before.
  app.all('*', (c) => host.fetch(c.req.raw, peerOf(c.env.incoming.socket)));

  return app;
}
