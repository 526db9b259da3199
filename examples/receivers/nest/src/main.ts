import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.ts';

const { PORT = '8788', HOST = '127.0.0.1' } = process.env;

// With rawBody, Nest keeps the bytes of each body beside the parsed one: the signature covers the bytes.
const app = await NestFactory.create<NestExpressApplication>(AppModule, { rawBody: true, logger: ['error', 'warn'] });
app.useBodyParser('json', { limit: '1mb' });
app.enableShutdownHooks();

await app.listen(Number(PORT), HOST).catch(cannotListen);
console.log(`listening on http://${HOST}:${PORT}/webhooks`);

/** One sentence in place of a stack. */
function cannotListen({ code, message }: NodeJS.ErrnoException): never {
  console.error(code === 'EADDRINUSE' ? `PORT: port ${PORT} is taken. Stop the other program, or set PORT.` : message);
  process.exit(1);
}
