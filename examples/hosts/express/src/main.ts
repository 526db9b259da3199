import { listen, secretKeyFile } from '@svc/host-kit/node';
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
const app = makeApp(parts);

// Until SIGTERM or SIGINT, which cut off no request.
const { url } = await listen(parts.host, Number(PORT), { address: HOST, listener: app });
console.log(`the host is at ${url}`);
