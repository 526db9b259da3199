import vectors from '../vectors/deliveries.json' with { type: 'json' };

/** A delivery whose signature another program made, and what becomes of it. */
export interface DeliveryVector {
  readonly why: string;
  /** The code of the refusal, or `accepted`. */
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
