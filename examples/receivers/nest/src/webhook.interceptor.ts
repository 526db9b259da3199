import {
  type CallHandler,
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
  type RawBodyRequest,
} from '@nestjs/common';
import type { Delivery } from '@svc/webhook-verify';
import { receive } from '@svc/webhook-verify/receive';
import type { Request, Response } from 'express';
import { firstValueFrom, from, type Observable } from 'rxjs';
import { WEBHOOK_OPTIONS, type WebhookOptions } from './webhook-options.ts';

/**
 * Calls the method for an authentic delivery, once, and answers all other requests itself. It is an interceptor and no
 * guard, because a delivery is handled only when the method has ended.
 */
@Injectable()
export class WebhookInterceptor implements NestInterceptor {
  readonly #options: WebhookOptions;

  constructor(@Inject(WEBHOOK_OPTIONS) options: WebhookOptions) {
    this.#options = options;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return from(this.#answer(context, next));
  }

  async #answer(context: ExecutionContext, next: CallHandler): Promise<unknown> {
    const request = context.switchToHttp().getRequest<WebhookRequest>();
    const handle = receive({
      ...this.#options,
      async onDelivery(delivery) {
        request.delivery = delivery;
        await firstValueFrom(next.handle(), { defaultValue: undefined });
      },
      onRejected: ({ code, message }) => console.warn(`refused: ${code}. ${message}`),
    });
    // headersDistinct keeps repeated headers, so that a contradiction is refused.
    const { status, body, retryAfterSeconds } = await handle(request.rawBody ?? '', request.headersDistinct);
    const response = context.switchToHttp().getResponse<Response>().status(status);
    if (retryAfterSeconds !== undefined) response.set('retry-after', String(retryAfterSeconds));
    if (body !== undefined) response.type('json');
    return body;
  }
}

/** A parameter of a method behind `WebhookInterceptor`. */
export const VerifiedDelivery = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<WebhookRequest>().delivery,
);

type WebhookRequest = RawBodyRequest<Request> & { delivery?: Delivery };
