import { orderlyStop, secretKeyFile } from '@svc/host-kit/node';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { makeApp } from './app.ts';
import { makeHost } from './host.ts';

const { API_KEY_HASH, DATABASE = 'svc.db', RECEIVER_PORT, PORT = '8787', HOST = '127.0.0.1' } = process.env;
if (!API_KEY_HASH) throw new Error('API_KEY_HASH: is not set. Run npm run key, which writes it to .env.');

const parts = makeHost({
  keyHashes: API_KEY_HASH.split(','),
  store: sqliteStore(DATABASE),
  // Made at the first start. Back it up together with the database.
  secretKey: secretKeyFile(`${DATABASE}-secret-key`),
  receiverPort: RECEIVER_PORT ? Number(RECEIVER_PORT) : undefined,
});
const { host } = parts;
const app = await makeApp(parts);

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
