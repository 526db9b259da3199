import { sqliteDedupStore } from '@svc/webhook-verify/dedup/sqlite';
import { makeApp } from './app.ts';

const { PORT = '8788', HOST = '127.0.0.1', WEBHOOK_SECRET } = process.env;

const app = makeApp({ secret: WEBHOOK_SECRET, dedup: sqliteDedupStore('deliveries.db') });

// Express passes an error of the server to the callback.
const server = app.listen(Number(PORT), HOST, (error) => {
  if (error) cannotListen(error);
  console.log(`listening on http://${HOST}:${PORT}/webhooks`);
});
process.once('SIGTERM', () => server.close());

/** One sentence in place of a stack. */
function cannotListen({ code, message }: NodeJS.ErrnoException): never {
  console.error(code === 'EADDRINUSE' ? `PORT: port ${PORT} is taken. Stop the other program, or set PORT.` : message);
  process.exit(1);
}
