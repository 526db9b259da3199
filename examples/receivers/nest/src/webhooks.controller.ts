import { Controller, Post, type RawBodyRequest, Req, Res } from '@nestjs/common';
import { sqliteDedupStore } from '@svc/webhook-verify/dedup/sqlite';
import { receive } from '@svc/webhook-verify/receive';
import type { Request, Response } from 'express';
import { onDelivery } from './on-delivery.ts';

@Controller('webhooks')
export class WebhooksController {
  readonly #receive = receive({
    secret: process.env.WEBHOOK_SECRET,
    dedup: sqliteDedupStore('deliveries.db'),
    onDelivery,
    onRejected: ({ code, message }) => console.warn(`refused: ${code}. ${message}`),
    onFailed: (error) => console.error(error),
  });

  @Post()
  async deliver(@Req() request: RawBodyRequest<Request>, @Res() response: Response): Promise<void> {
    // headersDistinct keeps repeated headers, so that a contradiction is refused.
    const { status, body } = await this.#receive(request.rawBody ?? '', request.headersDistinct);
    response.status(status);
    if (body === undefined) response.end();
    else response.type('json').send(body);
  }
}
