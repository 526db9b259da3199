import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { DedupStore } from '@svc/webhook-verify/receive';

/** The options of `WebhooksModule`. */
export interface WebhookOptions {
  /** The secret that the registration of the webhook returned. */
  readonly secret: string | undefined;
  /** Remembers the deliveries that are handled. */
  readonly dedup: DedupStore;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN: WEBHOOK_OPTIONS } =
  new ConfigurableModuleBuilder<WebhookOptions>().build();
