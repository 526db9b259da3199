/**
 * Waits for foreign work for at most `timeoutMs`. The work itself is not cancelled.
 *
 * @param what the subject of the error sentence
 * @throws {Error} when the work takes longer; otherwise the error of the work
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
