// A program with a host, for tests of signals. It prints the URL, and `stopped` when the host has stopped.
import type { RequestListener } from 'node:http';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type Host, type LogRecord } from '@svc/host-kit';
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
const MODES: Readonly<Record<string, Partial<Host>>> = {
  '--lost': { lost: Promise.resolve(new Error('the database file was deleted')) },
  '--lost-and-kept-open': { lost: Promise.resolve(new Error('the database file was deleted')) },
  '--cannot-stop': { stop: () => Promise.reject(new Error('the disk is gone')) },
  '--never-stops': { stop: () => new Promise(() => {}) },
  '--starts-for-ever': {
    start() {
      console.log('starting');
      return new Promise(() => {});
    },
  },
};
// A timer, as a pool of connections has one.
if (mode?.endsWith('kept-open') || mode === '--never-stops' || mode === '--starts-for-ever')
  setInterval(() => {}, 1000);

const log = ({ level, event }: LogRecord) => {
  if (level !== 'info' && event !== 'host.stop-failed') console.log(`${level} ${event}`);
};
const graceMs = mode === '--never-answers' ? 60_000 : 100;
const { url, stopped } = await listen({ ...host, ...MODES[mode ?? ''] }, 0, {
  ...{ graceMs, log },
  ...(mode === '--never-answers' && { listener }),
});
console.log(url);
await stopped;
console.log('stopped');
