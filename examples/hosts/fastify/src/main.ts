import { fastifyGuard, principalOf } from '@svc/auth/fastify';
import { toNodeListener } from '@svc/host-kit/node';
import { fastifyVersioning, operationOf } from '@svc/versioning/fastify';
import Fastify, { type FastifyPluginAsync, type FastifyRequest } from 'fastify';
import { workflows } from './engine.ts';
import { auth, host, versions } from './host.ts';

const { PORT = '8787', HOST = '127.0.0.1' } = process.env;

/** Operations of the protocol that the app serves itself, because the answer depends on the caller. */
const ownRoutes: FastifyPluginAsync = async (scope) => {
  await scope.register(fastifyVersioning({ served: versions }));
  scope.addHook('onRequest', fastifyGuard({ authenticator: auth, scope: 'manifest:read' }));
  scope.get('/workflows/:id', async (request, reply) => describe(request) ?? reply.code(404).send(NO_WORKFLOW));
  scope.get('/v1/workflows/:id', async (request, reply) => describe(request) ?? reply.code(404).send(NO_WORKFLOW));
};

const NO_WORKFLOW = { error: 'not_found', message: 'There is no such workflow.' };

function describe(request: FastifyRequest): object | undefined {
  const { major, params } = operationOf(request);
  const { tenancy } = principalOf(request);
  const workflow = workflows.get(params.workflowId ?? '');
  return workflow && { workflowId: params.workflowId, name: workflow.name, tenant: tenancy.tenant, major };
}

/** The host answers all other paths. It reads bodies itself, so its scope has no body parser. */
const hostRoutes: FastifyPluginAsync = async (scope) => {
  const listen = toNodeListener(host);
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
  scope.all('/*', (request, reply) => {
    reply.hijack();
    listen(request.raw, reply.raw);
  });
};

const app = Fastify();
await app.register(ownRoutes);
await app.register(hostRoutes);

await host.start();
await app.listen({ port: Number(PORT), host: HOST });
console.log(`the host is at http://${HOST}:${PORT}`);

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);

async function stop(): Promise<void> {
  host.closeStreams();
  await app.close();
  await host.stop();
}
