import type { Json } from '../../json.ts';

/**
 * The type of a value after it was stored as JSON: a `Date` is a string, a method is gone. A step returns its result in
 * this form in every turn, so that a workflow behaves in the same way after a restart.
 *
 * @example
 * const quote = await step('quote', async () => ({ at: new Date() })); // { at: string }
 */
export type Stored<T> = [T] extends [Json]
  ? T
  : T extends ReturnType<() => void> | undefined
    ? undefined
    : T extends { toJSON(): infer J }
      ? Stored<J>
      : T extends bigint | symbol | ((...values: never[]) => unknown)
        ? never
        : T extends object
          ? { [K in keyof T as [T[K]] extends [symbol | ((...values: never[]) => unknown)] ? never : K]: Stored<T[K]> }
          : never;
