import type { VNode } from 'preact';
import { usePolled } from '../data/polled.ts';
import { linkTo } from '../data/route.ts';
import { listWebhooks } from '../data/webhooks.ts';
import { inTrouble, standingOf } from '../model/standing.ts';
import { FilterLinks } from '../parts/filter-links.tsx';
import { Live } from '../parts/live.tsx';
import { Table } from '../parts/table.tsx';
import { Ago, Badge, Empty, Failure, Text } from '../parts/words.tsx';

/** Every subscription of the tenant, those in trouble first. */
export function Subscriptions({ filters }: { readonly filters: Readonly<Record<string, string>> }): VNode {
  const polled = usePolled('subscriptions', EVERY_MS, listWebhooks);
  const { data, error, refresh } = polled;
  const troubled = data === undefined ? [] : inTrouble(data.webhooks);
  const others = data?.webhooks.filter((webhook) => !troubled.includes(webhook)) ?? [];
  const shown = filters.show === 'trouble' ? troubled : [...troubled, ...others];
  return (
    <>
      <div class="title">
        <h1 tabIndex={-1}>Subscriptions</h1>
        <Live polled={polled} everyMs={EVERY_MS} />
      </div>
      <FilterLinks
        label="Subscriptions"
        current={filters.show ?? ''}
        choices={[
          { value: '', name: 'All' },
          { value: 'trouble', name: 'Needs attention' },
        ]}
        link={(show) => linkTo('subscriptions', [], { show })}
      />
      {error !== undefined && <Failure error={error} retry={() => void refresh()} />}
      {data === undefined && error === undefined && <p class="quiet">Reading …</p>}
      {data !== undefined && shown.length === 0 && (
        <Empty title={filters.show === 'trouble' ? 'None needs attention' : 'No subscription yet'} />
      )}
      {shown.length > 0 && (
        <Table
          label="Subscriptions"
          rows={shown}
          keyOf={({ webhookId }) => webhookId}
          columns={[
            {
              name: 'Receiver',
              cell: ({ webhookId, url, description }) => (
                <>
                  <a class="strong" href={linkTo('subscriptions', [webhookId])}>
                    <Text>{url}</Text>
                  </a>
                  {description !== undefined && (
                    <div class="quiet">
                      <Text>{description}</Text>
                    </div>
                  )}
                </>
              ),
            },
            {
              name: 'State',
              cell: (webhook) => {
                const { tone, word } = standingOf(webhook);
                return <Badge tone={tone}>{word}</Badge>;
              },
            },
            { name: 'Failing since', cell: ({ failingSince }) => <Ago time={failingSince} /> },
            { name: 'Events', cell: ({ events }) => <Text>{eventsText(events)}</Text> },
            { name: 'Workspaces', cell: ({ workspaces }) => <Text>{workspaces.join(', ')}</Text> },
          ]}
        />
      )}
      {data?.isCut && (
        <p class="quiet">The first {data.webhooks.length.toLocaleString('en')} subscriptions are shown.</p>
      )}
    </>
  );
}

const EVERY_MS = 15_000;

/** The first event types, and the number of the others. */
function eventsText(events: readonly string[]): string {
  const [first = '', second] = events;
  if (second === undefined) return first;
  return events.length === 2 ? `${first}, ${second}` : `${first} and ${events.length - 1} more`;
}
