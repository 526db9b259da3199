import { sqliteDedupStore } from '@svc/webhook-verify/dedup/sqlite';
import { makeApp } from './app.ts';

const { PORT = '8788', HOST = '127.0.0.1', WEBHOOK_SECRET } = process.env;

const app = await makeApp({ secret: WEBHOOK_SECRET, dedup: sqliteDedupStore('deliveries.db') });

await app.listen({ port: Number(PORT), host: HOST }).catch(cannotListen);
console.log(`listening on http://${HOST}:${PORT}/webhooks`);
process.once('SIGTERM', () => void app.close());

/** One sentence in place of a stack. */
function cannotListen({ code, message }: NodeJS.ErrnoException): never {
  console.error(code === 'EADDRINUSE' ? `PORT: port ${PORT} is taken. Stop the other program, or set PORT.` : message);
  process.exit(1);
}
