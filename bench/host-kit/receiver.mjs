// Receivers in a process of their own: TLS, keep-alive. It prints its port and tells the parent of each delivery when it came. A path
// that begins with /hang is never answered.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const fixture = (name) => readFileSync(new URL(`../../packages/egress-guard/test/fixtures/${name}`, import.meta.url));
const server = createServer({ key: fixture('hooks.key'), cert: fixture('hooks.pem'), keepAliveTimeout: 60_000 });
let received = 0;
server.on('request', (request, response) => {
  request.resume();
  request.on('end', () => {
    if (request.url.startsWith('/hang')) return;
    received += 1;
    const at = performance.timeOrigin + performance.now();
    if (request.url.startsWith('/timed')) process.send({ at, key: `${request.headers['svc-webhook-id']}` });
    response.writeHead(204).end();
  });
});
process.on('message', (message) => {
  if (message === 'count') process.send({ received });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.on('disconnect', () => process.exit());
