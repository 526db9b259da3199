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
  : T extends Nothing
    ? undefined
    : T extends { toJSON(): infer J }
      ? Stored<J>
      : T extends bigint | symbol | ((...values: never[]) => unknown)
        ? never
        : T extends object
          ? { [K in keyof T as Keeps<T[K]> extends true ? K : never]: Stored<T[K]> }
          : never;

/** Whether JSON has a member of this type. */
type Keeps<V> = [V] extends [symbol | ((...values: never[]) => unknown)] ? false : true;

/** The result of a function that returns nothing. */
type Nothing = ReturnType<() => void> | undefined;
