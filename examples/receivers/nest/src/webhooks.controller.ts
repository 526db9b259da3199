import { Controller, Post, UseInterceptors } from '@nestjs/common';
import type { Delivery } from '@svc/webhook-verify';
import { onDelivery } from './on-delivery.ts';
import { VerifiedDelivery, WebhookInterceptor } from './webhook.interceptor.ts';

@Controller('webhooks')
@UseInterceptors(WebhookInterceptor)
export class WebhooksController {
  @Post()
  deliver(@VerifiedDelivery() delivery: Delivery): Promise<void> {
    return onDelivery(delivery);
  }
}
