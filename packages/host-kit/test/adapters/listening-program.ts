// A program with a host, for tests of signals. It prints the URL, and `stopped` when the host has stopped.
import type { RequestListener } from 'node:http';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost } from '@svc/host-kit';
import { listen, toNodeListener } from '@svc/host-kit/node';
import { memoryStore } from '@svc/host-kit/stores/memory';

const [mode] = process.argv.slice(2);
const hash = hashApiKey('operator-key-of-this-test-0123456789');
const scopes = ['runs:create'];
const keys = memoryKeyStore([
  { ...{ id: 'key_1', hash, tenant: 'acme', workspaces: ['main'] }, principal: 'p_1', scopes, mode: 'live' },
]);
const host = createHost({
  ...{ store: memoryStore(), authenticate: [apiKeyLane({ keys })], secretKey: new Uint8Array(32) },
  engine: async () => ({}),
});

const serveHost = toNodeListener(host);
const listener: RequestListener = (request, response) => {
  if (request.url === '/slow') return;
  if (request.url === '/asked') response.end();
  else serveHost(request, response);
};
const cannotStop = () => Promise.reject(new Error('the disk is gone'));
const served = {
  ...host,
  ...(mode === '--lost' && { lost: Promise.resolve(new Error('the database file was deleted')) }),
  ...(mode === '--cannot-stop' && { stop: cannotStop }),
};
const options =
  mode === '--never-answers' ? { listener, graceMs: 60_000 } : mode === '--cannot-stop' ? { log: () => {} } : {};
const { url, stopped } = await listen(served, 0, options);
console.log(url);
await stopped;
console.log('stopped');
