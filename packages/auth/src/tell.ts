/** Tells an observer of the host of a failure. Its own errors are ignored: an observer must not change an outcome. */
export function tell(observer: ((cause: unknown) => void) | undefined, cause: unknown): void {
  try {
    observer?.(cause);
  } catch {}
}
