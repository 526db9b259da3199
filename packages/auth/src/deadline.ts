/**
 * Waits for work of someone else's, and no longer than `timeoutMs`. The work itself is not ended.
 *
 * @throws {Error} when it takes longer, naming what was waited for; and whatever the work throws
 */
export async function withinTime<T>(what: string, timeoutMs: number, work: T | Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeoutMs} ms.`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
