import type { VNode } from 'preact';
import { spanText } from '../model/spans.ts';
import type { Bar, Timeline } from '../model/timeline.ts';
import { visibleText } from '../model/visible-text.ts';

/** The nodes of a run as lanes over time, and as a table for those who do not see it. */
export function NodeTimeline({ timeline }: { readonly timeline: Timeline }): VNode {
  const { from, to, lanes } = timeline;
  const whole = Math.max(1, to - from);
  const shown = lanes.slice(0, MOST_LANES);
  return (
    <figure class="timeline">
      <ol>
        {shown.map(({ nodeId, bars }) => (
          <li key={nodeId}>
            <span class="lane-name" title={visibleText(nodeId)}>
              {visibleText(nodeId)}
            </span>
            <svg viewBox="0 0 1000 16" preserveAspectRatio="none" aria-hidden="true">
              {bars.map((bar) => (
                <rect
                  key={bar.from}
                  class={bar.outcome}
                  x={((bar.from - from) / whole) * 1000}
                  y="1"
                  width={Math.max(5, (((bar.to ?? to) - bar.from) / whole) * 1000)}
                  height="14"
                  rx="3"
                />
              ))}
            </svg>
            <span class="lane-span">{laneText(bars, to)}</span>
          </li>
        ))}
      </ol>
      <figcaption class="quiet">
        {spanText(whole)} in all.
        {lanes.length > MOST_LANES && ` The first ${MOST_LANES} of ${lanes.length} nodes are shown.`}
      </figcaption>
    </figure>
  );
}

const MOST_LANES = 100;

function laneText(bars: readonly Bar[], now: number): string {
  const last = bars.at(-1);
  const sum = bars.reduce((ms, { from, to }) => ms + ((to ?? now) - from), 0);
  return `${last?.outcome ?? ''}, ${spanText(sum)}`;
}
