import type { VNode } from 'preact';
import type { LetterFacets } from '../data/shapes.ts';
import { causeOf } from '../model/cause.ts';
import { letterSteps } from '../model/series.ts';
import { visibleText } from '../model/visible-text.ts';
import { Chart } from '../parts/chart.tsx';
import { counted } from '../parts/words.tsx';

/** The dead letters of a selection by time, last answer and event type. Each count is a link to its letters. */
export function LetterFacetsView(given: {
  readonly facets: LetterFacets;
  readonly filters: Readonly<Record<string, string>>;
  readonly link: (filters: Readonly<Record<string, string>>) => string;
}): VNode {
  const { facets, filters, link } = given;
  const { matching, isComplete, statuses, eventTypes } = facets;
  const steps = letterSteps(facets, Date.now());
  const sentence = `${counted(matching, 'dead letter')}${isComplete ? '' : ' or more'}, by the time at which they became dead letters.`;
  return (
    <section class="facets" aria-label="Counts">
      <Chart
        label="Dead letters over time"
        sentence={sentence}
        steps={steps}
        up={{ name: 'dead letters', tone: 'bad' }}
      />
      <FacetList
        title="By last answer"
        rows={statuses.map(({ status, count }) => {
          const { title, sentence: cause } = status === 0 ? UNANSWERED : causeOf({ outcome: 'failed', status });
          const isChosen = filters.status === String(status);
          return {
            key: String(status),
            title,
            quiet: cause,
            count,
            isChosen,
            to: { status: isChosen ? '' : String(status) },
          };
        })}
        filters={filters}
        link={link}
      />
      <FacetList
        title="By event type"
        rows={eventTypes.map(({ type, count }) => {
          const isChosen = filters.type === type;
          return {
            key: type,
            title: visibleText(type),
            quiet: '',
            count,
            isChosen,
            to: { type: isChosen ? '' : type },
          };
        })}
        filters={filters}
        link={link}
      />
    </section>
  );
}

const UNANSWERED = { title: 'No answer', sentence: 'The receiver could not be reached, or did not answer in time.' };

interface FacetRow {
  readonly key: string;
  readonly title: string;
  readonly quiet: string;
  readonly count: number;
  readonly isChosen: boolean;
  /** The filters that the link changes. */
  readonly to: Readonly<Record<string, string>>;
}

function FacetList(given: {
  readonly title: string;
  readonly rows: readonly FacetRow[];
  readonly filters: Readonly<Record<string, string>>;
  readonly link: (filters: Readonly<Record<string, string>>) => string;
}): VNode {
  const { title, rows, filters, link } = given;
  const most = Math.max(1, ...rows.map(({ count }) => count));
  return (
    <div class="card facet">
      <h2>{title}</h2>
      <ul>
        {rows.map((row) => (
          <li key={row.key}>
            <a href={link({ ...filters, ...row.to })} aria-current={row.isChosen ? 'true' : undefined}>
              {row.title}
            </a>{' '}
            <strong>{row.count.toLocaleString('en')}</strong>
            <progress aria-hidden="true" max={most} value={row.count} />
            {row.quiet !== '' && <span class="quiet">{row.quiet}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}
