import type { Major } from '@svc/versioning';
import { messageText } from '../http/event-stream.ts';
import type { RunEvent } from '../ports/events.ts';
import { type FoldedRun, runAfter } from '../runs/after-event.ts';
import type { Batch } from '../streams/batch.ts';
import type { EventMode } from '../streams/mode.ts';
import type { View } from '../streams/pages.ts';
import { eventFrame, movesValues, type StreamFrame, snapshotFrame } from '../wire/stream.ts';

/**
 * Makes the view that readers of a run share when they have the same modes and major.
 *
 * @param isBatched true: a page holds only the data of its frames, joined by commas, for `batchOf`
 */
export function viewOf(major: Major, modes: 'values' | readonly EventMode[], isBatched: boolean): View {
  const write = isBatched ? dataOf : messagesOf;
  return {
    name: `${major} ${modes} ${isBatched ? 'batched' : 'single'}`,
    pageEvents: modes === 'values' ? PAGE_SNAPSHOTS : PAGE_EVENTS,
    render(run, events) {
      const shown = modes === 'values' ? snapshots(major, run, events) : changes(major, modes, run, events);
      return { bytes: encoder.encode(write(shown.frames)), shown: shown.frames.at(-1)?.id, run: shown.run };
    },
  };
}

function changes(major: Major, modes: readonly EventMode[], run: FoldedRun, events: readonly RunEvent[]): Shown {
  return { frames: events.flatMap((event) => eventFrame(major, modes, run, event) ?? []), run };
}

function snapshots(major: Major, run: FoldedRun, events: readonly RunEvent[]): Shown {
  const frames: StreamFrame[] = [];
  let moved = run;
  for (const event of events) {
    moved = runAfter(moved, event);
    if (movesValues[major](event.type)) frames.push(snapshotFrame(major, moved));
  }
  return { frames, run: moved };
}

interface Shown {
  readonly frames: readonly StreamFrame[];
  readonly run: FoldedRun;
}

/**
 * Makes batches of frames.
 *
 * @param ms how long a batch may hold events back
 */
export function batchOf(ms: number): Batch {
  return {
    ms,
    join(parts, last) {
      const separated = parts.flatMap((part, index) => (index === 0 ? [part] : [COMMA, part]));
      return Buffer.concat([Buffer.from(`id: ${last}\nevent: batch\ndata: [`), ...separated, END]);
    },
  };
}

const PAGE_EVENTS = 256;
/** A snapshot may have 150 KB. */
const PAGE_SNAPSHOTS = 16;
const encoder = new TextEncoder();
const COMMA = encoder.encode(',');
const END = encoder.encode(']\n\n');

function messagesOf(frames: readonly StreamFrame[]): string {
  return frames.map(messageText).join('');
}

function dataOf(frames: readonly StreamFrame[]): string {
  return frames.map(({ data }) => data).join(',');
}
