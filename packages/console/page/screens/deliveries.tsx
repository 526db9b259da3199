import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { own } from '../data/api.ts';
import { type Paged, usePaged } from '../data/paged.ts';
import { linkTo } from '../data/route.ts';
import type { Delivery } from '../data/shapes.ts';
import { deliveryTone } from '../model/standing.ts';
import { FilterLinks } from '../parts/filter-links.tsx';
import { type Column, PagedTable } from '../parts/table.tsx';
import { Ago, Badge, capitalized, Empty, ShortId, Text } from '../parts/words.tsx';

const STATES = ['', 'waiting', 'dead-lettered', 'delivered', 'failed'] as const;

/** The deliveries of a subscription. They are read again with each new `turn`. */
export function Deliveries(given: {
  readonly webhookId: string;
  readonly filters: Readonly<Record<string, string>>;
  readonly turn: number;
}): VNode {
  const { webhookId, filters, turn } = given;
  const { state = '' } = filters;
  const paged = useDeliveries(webhookId, { state });
  const { reload } = paged;
  // A new turn alone reads again.
  useEffect(() => {
    if (turn > 0) reload();
  }, [turn]);
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries</h2>
      <div class="title">
        <FilterLinks
          label="Deliveries"
          current={state}
          choices={STATES.map((value) => ({ value, name: value === '' ? 'All' : capitalized(value) }))}
          link={(chosen) => linkTo('subscriptions', [webhookId], { ...filters, state: chosen })}
        />
        <button type="button" class="plain" onClick={paged.reload}>
          Read again
        </button>
      </div>
      <PagedTable
        label="Deliveries"
        paged={paged}
        keyOf={({ deliveryId }) => deliveryId}
        columns={deliveryColumns(webhookId)}
        empty={<Empty title={state === '' ? 'No delivery yet' : `No delivery is ${state}`} />}
      />
    </section>
  );
}

/** Reads the deliveries of a subscription, filtered by the members of the query. */
export function useDeliveries(webhookId: string, filter: Readonly<Record<string, string>>): Paged<Delivery> {
  const key = `${webhookId}?${new URLSearchParams(filter)}`;
  return usePaged<Delivery>(key, async (cursor) => {
    const given = Object.entries({ ...filter, cursor: cursor ?? '' }).filter(([, value]) => value !== '');
    const query = new URLSearchParams(given);
    const path = `/webhooks/${encodeURIComponent(webhookId)}/deliveries?${query}`;
    const found = await own<{ deliveries: readonly Delivery[]; nextCursor?: string }>('GET', path);
    return { rows: found.deliveries, next: found.nextCursor };
  });
}

/** The columns of a list of deliveries. */
export function deliveryColumns(webhookId: string): readonly Column<Delivery>[] {
  return [
    {
      name: 'Event',
      cell: ({ deliveryId, eventType }) => (
        <a href={linkTo('deliveries', [webhookId, deliveryId])}>
          <Text>{eventType}</Text>
          <ShortId>{deliveryId}</ShortId>
        </a>
      ),
    },
    { name: 'State', cell: ({ state }) => <Badge tone={deliveryTone(state)}>{state}</Badge> },
    {
      name: 'Last answer',
      cell: ({ lastStatus, attempts }) =>
        attempts === 0 ? '–' : lastStatus === undefined ? 'none' : `HTTP ${lastStatus}`,
    },
    { name: 'Attempts', cell: ({ attempts }) => String(attempts) },
    { name: 'Event time', cell: ({ createdAt }) => <Ago time={createdAt} /> },
    {
      name: 'Changed',
      cell: ({ deadLetteredAt, endedAt, nextAttemptAt }) => <Ago time={deadLetteredAt ?? endedAt ?? nextAttemptAt} />,
    },
  ];
}
