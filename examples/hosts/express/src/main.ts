import { expressGuard, principalOf } from '@svc/auth/express';
import { answerParserErrors, hostServer, orderlyStop, refuseMalformed, toNodeListener } from '@svc/host-kit/node';
import { expressVersioning, operationOf } from '@svc/versioning/express';
import express from 'express';
import { workflows } from './engine.ts';
import { auth, host, versions } from './host.ts';

const { PORT = '8787', HOST = '127.0.0.1' } = process.env;

const app = express();
app.disable('x-powered-by');

const negotiate = expressVersioning({ served: versions });
const mayReadWorkflows = expressGuard({ authenticator: auth, scope: 'manifest:read' });

// An operation of the protocol that the app serves itself, because the answer depends on the caller.
app.get(['/workflows/:id', '/v1/workflows/:id'], negotiate, mayReadWorkflows, (request, response) => {
  const { major, params } = operationOf(request);
  const { tenancy } = principalOf(request);
  const workflow = workflows.get(params.workflowId ?? '');
  if (workflow === undefined) response.status(404).json({ error: 'not_found', message: 'There is no such workflow.' });
  else response.json({ workflowId: params.workflowId, name: workflow.name, tenant: tenancy.tenant, major });
});

// The host answers all other paths. It reads bodies itself, so no body parser may run before it.
app.use(toNodeListener(host));

await host.start();
const server = hostServer(refuseMalformed(host, app));
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
