import { Module } from '@nestjs/common';
import { WebhookInterceptor } from './webhook.interceptor.ts';
import { ConfigurableModuleClass } from './webhook-options.ts';
import { WebhooksController } from './webhooks.controller.ts';

/** Receives webhooks at `/webhooks`: `WebhooksModule.register({ secret, dedup })`. */
@Module({ controllers: [WebhooksController], providers: [WebhookInterceptor] })
export class WebhooksModule extends ConfigurableModuleClass {}
