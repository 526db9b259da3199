import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { honoGuard, principalOf } from '@svc/auth/hono';
import { peerOf } from '@svc/auth/node';
import { answerParserErrors, hostServer, orderlyStop, refuseMalformed } from '@svc/host-kit/node';
import { honoVersioning, operationOf } from '@svc/versioning/hono';
import { Hono } from 'hono';
import { workflows } from './engine.ts';
import { auth, host, versions } from './host.ts';

const { PORT = '8787', HOST = '127.0.0.1' } = process.env;

const app = new Hono<{ Bindings: HttpBindings }>();

// An operation of the protocol that the app serves itself, because the answer depends on the caller.
for (const path of ['/workflows/:id', '/v1/workflows/:id']) {
  app.use(path, honoVersioning({ served: versions }), honoGuard({ authenticator: auth, scope: 'manifest:read' }));
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

await host.start();
const server = hostServer(refuseMalformed(host, getRequestListener(app.fetch)));
answerParserErrors(server, host);
const stop = orderlyStop(server, host);
server.once('error', cannotListen);
server.listen(Number(PORT), HOST, () => console.log(`the host is at http://${HOST}:${PORT}`));

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
