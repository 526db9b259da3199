import type { VNode } from 'preact';
import type { Attempt } from '../data/shapes.ts';
import { causeOf } from '../model/cause.ts';
import { spanText } from '../model/spans.ts';

/**
 * The last attempts as bars, the newest at the right. Its height shows the duration, on a logarithmic scale. A failure is
 * marked below the line too, so that it is not told by its colour alone.
 */
export function AttemptsStrip({ attempts }: { readonly attempts: readonly Attempt[] }): VNode | null {
  if (attempts.length === 0) return null;
  const failed = attempts.filter(({ outcome }) => outcome === 'failed').length;
  const bars = attempts.slice(0, SHOWN).reverse();
  const slowest = Math.log1p(Math.max(1, ...bars.map(({ durationMs }) => durationMs)));
  const label = `${failed} of the last ${attempts.length} attempts failed.`;
  return (
    <figure class="strip">
      <svg viewBox={`0 0 ${SHOWN * 8} 36`} role="img" aria-label={label}>
        <line x1="0" x2={SHOWN * 8} y1="28.500" y2="28.500" class="axis" />
        {bars.map((attempt, index) => {
          const height = 4 + (22 * Math.log1p(attempt.durationMs)) / slowest;
          const x = (SHOWN - bars.length + index) * 8 + 1;
          return (
            <g key={`${attempt.at}${attempt.deliveryId}`} class={attempt.outcome}>
              <title>{`${causeOf(attempt).title}, ${spanText(attempt.durationMs)}`}</title>
              <rect x={x} y={28 - height} width="6" height={height} rx="1.500" />
              {attempt.outcome === 'failed' && <rect x={x} y="31" width="6" height="3" rx="1" />}
            </g>
          );
        })}
      </svg>
      <figcaption class="quiet">{label}</figcaption>
    </figure>
  );
}

const SHOWN = 20;
