import { type Delivery, type DeliveryClaims, parseDelivery } from './delivery.ts';

/**
 * Makes a delivery of signed bytes whose body is parsed at the first access to a field that comes from it: all fields but
 * `webhookId` and `timestamp`. The whole body is parsed at once, by the same parser, so that both forms of a delivery are
 * equal.
 *
 * @param body the signed bytes, which must not change before they are parsed
 */
export function lazyDelivery(body: Uint8Array | string, claims: DeliveryClaims, timestamp: number): Delivery {
  let parsed: Delivery | undefined;
  const { webhookId } = claims;
  const read = () => {
    parsed ??= parseDelivery(body, claims, timestamp);
    return parsed;
  };
  return {
    webhookId,
    get eventType() {
      return read().eventType;
    },
    timestamp,
    get runId() {
      return read().runId;
    },
    get workspaceId() {
      return read().workspaceId;
    },
    get event() {
      return read().event;
    },
  };
}
