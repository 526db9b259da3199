import { fastifyGuard, principalOf } from '@svc/auth/fastify';
import { answerParserErrors, hostServer, orderlyStop, refuseMalformed, toNodeListener } from '@svc/host-kit/node';
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

/** The host answers all other paths, with any method. It reads bodies itself, so it gets a request before Fastify parses it. */
const hostRoutes: FastifyPluginAsync = async (scope) => {
  const listen = toNodeListener(host);
  scope.addHook('onRequest', async (request, reply) => {
    reply.hijack();
    listen(request.raw, reply.raw);
  });
  scope.setNotFoundHandler(() => {});
};

const app = Fastify({ serverFactory: (handler) => hostServer(refuseMalformed(host, handler)) });
await app.register(ownRoutes);
await app.register(hostRoutes);
answerParserErrors(app.server, host);

const stop = orderlyStop(app.server, {
  ...host,
  async stop(graceMs) {
    await app.close();
    await host.stop(graceMs);
  },
});

await host.start();
await app.listen({ port: Number(PORT), host: HOST }).catch(cannotListen);
console.log(`the host is at http://${HOST}:${PORT}`);

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);

// The database file was deleted, replaced or damaged, so only a new process can go on.
void host.lost.then(({ message }) => {
  console.error(message);
  process.exit(1);
});

/** One sentence in place of a stack. */
function cannotListen({ code, message }: NodeJS.ErrnoException): never {
  console.error(code === 'EADDRINUSE' ? `PORT: port ${PORT} is taken. Stop the other program, or set PORT.` : message);
  process.exit(1);
}
