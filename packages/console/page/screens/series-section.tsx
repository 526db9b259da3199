import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { own } from '../data/api.ts';
import { usePolled } from '../data/polled.ts';
import type { Series } from '../data/shapes.ts';
import { seriesSentence, seriesSteps } from '../model/series.ts';
import { Chart } from '../parts/chart.tsx';
import { FilterLinks } from '../parts/filter-links.tsx';
import { Failure } from '../parts/words.tsx';

/** The attempts of one subscription, or of all of them, over time. */
export function SeriesSection(given: {
  /** Absent: all subscriptions. */
  readonly webhookId?: string;
  readonly hours: string;
  readonly link: (hours: string) => string;
  /** The series is read again with each new turn. */
  readonly turn?: number;
}): VNode {
  const { webhookId, hours, link, turn = 0 } = given;
  const ranges = webhookId === undefined ? RANGES.slice(0, 3) : RANGES;
  const range = ranges.find(({ value }) => value === hours) ?? FIRST;
  const path = webhookId === undefined ? '' : `/${encodeURIComponent(webhookId)}`;
  const { data, error, refresh } = usePolled(`${path}/${range.value}`, EVERY_MS, () => {
    const now = Date.now();
    const query = new URLSearchParams({
      from: new Date(now - range.hours * 3_600_000).toISOString(),
      to: new Date(now).toISOString(),
    });
    return own<Series>('GET', `/webhooks${path}/series?${query}`);
  });
  useEffect(() => {
    if (turn > 0) void refresh();
  }, [turn, refresh]);
  return (
    <section aria-labelledby="series">
      <h2 id="series">Attempts over time</h2>
      <div class="title">
        <FilterLinks label="Time" current={range.value} choices={ranges} link={link} />
      </div>
      {error !== undefined && data === undefined && <Failure error={error} retry={() => void refresh()} />}
      {error !== undefined && data !== undefined && <p class="quiet">This chart is stale: its last read failed.</p>}
      {data === undefined && error === undefined && <p class="quiet">Reading …</p>}
      {data !== undefined && (
        <Chart
          label="Attempts over time"
          sentence={`${range.name}, ${webhookId === undefined ? 'all subscriptions' : 'this subscription'}: ${seriesSentence(data)}${data.isComplete === false ? ' Not every subscription is in it.' : ''}`}
          steps={seriesSteps(data)}
          up={{ name: 'delivered', tone: 'good' }}
          down="failed"
        />
      )}
    </section>
  );
}

// Minutes are counted, and each read is audited.
const EVERY_MS = 60_000;
const FIRST = { value: '', name: 'Last hour', hours: 1 };
const RANGES = [
  FIRST,
  { value: '6', name: 'Last 6 hours', hours: 6 },
  { value: '24', name: 'Last 24 hours', hours: 24 },
  { value: '168', name: 'Last 7 days', hours: 168 },
];
