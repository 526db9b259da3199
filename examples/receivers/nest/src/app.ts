import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { WebhookOptions } from './webhook-options.ts';
import { WebhooksModule } from './webhooks.module.ts';

@Module({})
class AppModule {}

/** Makes the app. `main.ts` serves it, and the tests call it. */
export async function makeApp(webhooks: WebhookOptions): Promise<NestExpressApplication> {
  const imports = [WebhooksModule.register(webhooks)];
  // With rawBody, Nest keeps the bytes of each body beside the parsed one: the signature covers the bytes.
  const options = { rawBody: true, logger: ['error' as const, 'warn' as const] };
  const app = await NestFactory.create<NestExpressApplication>({ module: AppModule, imports }, options);
  app.useBodyParser('json', { limit: '1mb' });
  app.enableShutdownHooks();
  return app;
}
