import type { VNode } from 'preact';
import type { Polled } from '../data/polled.ts';
import { useTick } from '../data/tick.ts';
import { distanceText } from '../model/spans.ts';
import { Badge } from './words.tsx';

/** Tells whether what is shown is current: "live", "stale since", or "reading". */
export function Live({ polled, everyMs }: { readonly polled: Polled<unknown>; readonly everyMs: number }): VNode {
  const now = useTick();
  const { at, error } = polled;
  if (at === undefined) return <Badge tone="idle">reading</Badge>;
  const isStale = error !== undefined || now - at > 2 * everyMs + GRACE_MS;
  return isStale ? <Badge tone="warn">{`stale: ${distanceText(at, now)}`}</Badge> : <Badge tone="good">live</Badge>;
}

const GRACE_MS = 5000;
