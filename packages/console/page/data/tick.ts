import { useEffect, useState } from 'preact/hooks';

/** Shows the component again each second, and returns the time, in ms since the epoch. Not while `isStill` is true. */
export function useTick(isStill = false): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (isStill) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isStill]);
  return now;
}
