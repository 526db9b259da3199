import { withinTime } from './deadline.ts';

/** Limits of `gathered`. */
export interface GatherLimits {
  /** The subject of the error sentence of a late batch. */
  readonly what: string;
  /** Time limit of a batch in ms. */
  readonly timeoutMs: number;
  /** Most items of a batch. */
  readonly most: number;
}

/**
 * Gathers items that arrive while a batch is under way into the next batch, so that one statement serves many callers.
 * The first item starts a batch at once.
 *
 * @param work returns one result for each item, in their order. Its error is the error of each item of the batch.
 * @returns a function that rejects with the error of its batch, and at once while more than 20 batches would wait
 */
export function gathered<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  { what, timeoutMs, most }: GatherLimits,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let isBusy = false;

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= MOST_BATCHES * most) return reject(new Error(`${what} has too many requests waiting.`));
      waiting.push({ item, resolve, reject });
      if (!isBusy) void run();
    });

  async function run(): Promise<void> {
    isBusy = true;
    // Waits for the other items of this turn of the event loop.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, most);
      waiting = waiting.slice(most);
      try {
        const results = await withinTime(what, timeoutMs, work(batch.map(({ item }) => item)));
        if (results.length !== batch.length)
          throw new Error(`${what} gave ${results.length} results, not ${batch.length}.`);
        for (const [index, result] of results.entries()) batch[index]?.resolve(result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isBusy = false;
  }
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

const MOST_BATCHES = 20;
