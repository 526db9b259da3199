import { sqliteDedupStore } from '@svc/webhook-verify/dedup/sqlite';
import { toFastifyPlugin } from '@svc/webhook-verify/fastify';
import Fastify from 'fastify';
import { onDelivery } from './on-delivery.ts';

const { PORT = '8788', HOST = '127.0.0.1', WEBHOOK_SECRET } = process.env;

const app = Fastify();

// A scope of its own, without body parsers: the signature covers the bytes of the body.
await app.register(
  toFastifyPlugin({
    path: '/webhooks',
    secret: WEBHOOK_SECRET,
    dedup: sqliteDedupStore('deliveries.db'),
    onDelivery,
    onRejected: ({ code, message }) => console.warn(`refused: ${code}. ${message}`),
    onFailed: (error) => console.error(error),
  }),
);

// Your own routes follow here, with the parsers of Fastify.

await app.listen({ port: Number(PORT), host: HOST }).catch(cannotListen);
console.log(`listening on http://${HOST}:${PORT}/webhooks`);
process.once('SIGTERM', () => void app.close());

/** One sentence in place of a stack. */
function cannotListen({ code, message }: NodeJS.ErrnoException): never {
  console.error(code === 'EADDRINUSE' ? `PORT: port ${PORT} is taken. Stop the other program, or set PORT.` : message);
  process.exit(1);
}
