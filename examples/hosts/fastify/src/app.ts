import { guard, principalOf } from '@svc/auth/fastify';
import { toNodeListener } from '@svc/host-kit/node';
import { operationOf, versioning } from '@svc/versioning/fastify';
import Fastify, { type FastifyInstance, type FastifyPluginAsync, type FastifyRequest } from 'fastify';
import { workflows } from './engine.ts';
import type { AppHost } from './host.ts';

/** Makes the app around the host. `main.ts` serves it, and the tests call it. */
export async function makeApp(parts: AppHost): Promise<FastifyInstance> {
  const app = Fastify();
  await app.register(ownRoutes(parts));
  await app.register(hostRoutes(parts));
  return app;
}

/** Operations of the protocol that the app serves itself, because the answer depends on the caller. */
function ownRoutes({ auth, versions }: AppHost): FastifyPluginAsync {
  return async (scope) => {
    await scope.register(versioning({ served: versions }));
    scope.addHook('onRequest', guard({ authenticator: auth, scope: 'manifest:read' }));
    scope.get('/workflows/:id', async (request, reply) => describe(request) ?? reply.code(404).send(NO_WORKFLOW));
    scope.get('/v1/workflows/:id', async (request, reply) => describe(request) ?? reply.code(404).send(NO_WORKFLOW));
  };
}

const NO_WORKFLOW = { error: 'not_found', message: 'There is no such workflow.' };

function describe(request: FastifyRequest): object | undefined {
  const { major, params } = operationOf(request);
  const { tenancy } = principalOf(request);
  const workflow = workflows.get(params.workflowId ?? '');
  return workflow && { workflowId: params.workflowId, name: workflow.name, tenant: tenancy.tenant, major };
}

/** The host answers all other paths, with any method. It reads bodies itself, so it gets a request before Fastify parses it. */
function hostRoutes({ host }: AppHost): FastifyPluginAsync {
  return async (scope) => {
    const listen = toNodeListener(host);
    scope.addHook('onRequest', async (request, reply) => {
      reply.hijack();
      listen(request.raw, reply.raw);
    });
    scope.setNotFoundHandler(() => {});
  };
}
