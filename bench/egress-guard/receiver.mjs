/** A receiver as a process of its own: TLS, keep-alive, 204 for every request. Prints its port. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const fixture = (name) => readFileSync(new URL(`../../packages/egress-guard/test/fixtures/${name}`, import.meta.url));
const server = createServer({ key: fixture('hooks.key'), cert: fixture('hooks.pem'), keepAliveTimeout: 60_000 });
server.on('request', (request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(204).end());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.on('disconnect', () => process.exit());
