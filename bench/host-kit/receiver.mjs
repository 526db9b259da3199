// Receivers as a process of their own: TLS, keep-alive. Prints its port. A request to /hang… gets no response. Requests
// to /counted… are counted: all deliveries, and each event once. The parent sends 'start', and later 'times' or
// 'counts' to get the results.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const fixture = (name) => readFileSync(new URL(`../../packages/egress-guard/test/fixtures/${name}`, import.meta.url));
const server = createServer({ key: fixture('hooks.key'), cert: fixture('hooks.pem'), keepAliveTimeout: 60_000 });
/**
 * The subscription and the time of each request since 'start'. Sent at the end, so that sending does not slow the
 * requests.
 */
let times;
let deliveries = 0;
let events = new Set();

server.on('request', (request, response) => {
  const isCounted = request.url.startsWith('/counted');
  const chunks = [];
  if (isCounted) request.on('data', (chunk) => chunks.push(chunk));
  else request.resume();
  request.on('end', () => {
    if (request.url.startsWith('/hang')) return;
    times?.push([request.headers['svc-webhook-id'], performance.timeOrigin + performance.now()]);
    if (isCounted) count(request.headers['svc-webhook-id'], Buffer.concat(chunks));
    response.writeHead(204).end();
  });
});

function count(webhookId, body) {
  const { event } = JSON.parse(body.toString());
  deliveries += 1;
  events.add(`${webhookId} ${event.runId} ${event.sequence}`);
}

process.on('message', (message) => {
  if (message === 'start') {
    times = [];
    deliveries = 0;
    events = new Set();
    process.send({ started: true });
  } else if (message === 'times') {
    process.send({ times });
    times = undefined;
  } else if (message === 'counts') {
    process.send({ deliveries, events: events.size });
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.on('disconnect', () => process.exit());
