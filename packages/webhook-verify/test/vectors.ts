import { readFileSync } from 'node:fs';
import type { StandardWebhookOptions } from '../src/standard-webhooks/index.ts';

/** A request that another program signed, with the expected outcome. `vectors/README.md` describes the fields. */
interface Vector {
  readonly why: string;
  /** The code of the rejection, `accepted` or `challenge`. */
  readonly outcome: string;
  readonly status: number;
  readonly secrets: readonly string[];
  /** Unix seconds. */
  readonly now: number;
  readonly options?: Omit<StandardWebhookOptions, 'now'>;
  readonly answer?: string;
  readonly body: Buffer;
}

export interface DeliveryVector extends Vector {
  readonly headers: readonly (readonly [string, string])[];
}

export interface MessageVector extends Vector {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

export const deliveryVectors: readonly DeliveryVector[] = read('deliveries');
export const messageVectors: readonly MessageVector[] = read('standard-webhooks');
export const standardDeliveryVectors: readonly DeliveryVector[] = read('standard-deliveries');

function read<T extends Vector>(name: string): readonly T[] {
  const file = new URL(`../vectors/${name}.json`, import.meta.url);
  const { cases }: { cases: readonly (T & { readonly body: string })[] } = JSON.parse(readFileSync(file, 'utf8'));
  return cases.map((vector) => ({ ...vector, body: Buffer.from(vector.body, 'base64') }));
}
