/** A host, and a credential for it. */
export interface Target {
  readonly url: string;
  readonly key: string;
}

/** The HTTP status of each call, by the name of its operation. */
export type Statuses = Record<string, number | undefined>;

/** Returns a value that the host must have sent. */
export function sent<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`The host sent no ${name}.`);
  return value;
}
