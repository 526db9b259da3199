import vectors from '../vectors/deliveries.json' with { type: 'json' };

/** A delivery that another program signed, with the expected outcome. */
export interface DeliveryVector {
  readonly why: string;
  /** The code of the rejection, or `accepted`. */
  readonly outcome: string;
  readonly secrets: readonly string[];
  /** Unix seconds. */
  readonly now: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

export const deliveryVectors: readonly DeliveryVector[] = vectors.cases.map(({ body, headers, ...rest }) => ({
  ...rest,
  headers: headers.map(([name = '', value = '']): readonly [string, string] => [name, value]),
  body: Buffer.from(body, 'base64'),
}));
