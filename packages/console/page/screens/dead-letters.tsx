import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, own } from '../data/api.ts';
import { usePolled } from '../data/polled.ts';
import { linkTo } from '../data/route.ts';
import type { Counted, LetterFacets, TenantLetterFacets, Webhook, WebhookDetails } from '../data/shapes.ts';
import { listWebhooks } from '../data/webhooks.ts';
import { hasStatus, type LetterFilter, letterFilter } from '../model/letter-filter.ts';
import { letterQuery } from '../model/letter-query.ts';
import { standingOf } from '../model/standing.ts';
import { Later } from '../parts/later.tsx';
import { PagedTable, Table } from '../parts/table.tsx';
import { Badge, counted, Empty, Failure, Text } from '../parts/words.tsx';
import { deliveryColumns, useDeliveries } from './deliveries.tsx';
import { RedriveDialog } from './redrive-dialog.tsx';

/** The dead letters: of which subscription, which of them, and again to the receiver. */
export function DeadLetters(given: {
  readonly webhookId: string | undefined;
  readonly filters: Readonly<Record<string, string>>;
}): VNode {
  const { webhookId, filters } = given;
  return webhookId === undefined ? (
    <BySubscription filters={filters} />
  ) : (
    <OfSubscription webhookId={webhookId} filters={filters} />
  );
}

async function readCounts(selection: LetterFilter): Promise<Counts> {
  const [facets, { webhooks }] = await Promise.all([
    own<TenantLetterFacets>('GET', `/webhooks/dead-letters/facets?${letterQuery(selection)}`),
    listWebhooks(),
  ]);
  return { facets, webhookOf: new Map(webhooks.map((webhook) => [webhook.webhookId, webhook])) };
}

interface Counts {
  readonly facets: TenantLetterFacets;
  readonly webhookOf: ReadonlyMap<string, Webhook>;
}

function BySubscription({ filters }: { readonly filters: Readonly<Record<string, string>> }): VNode {
  const selection = letterFilter(filters);
  const { data, error, refresh } = usePolled(JSON.stringify(['dead-letters', filters]), 0, () =>
    'problem' in selection ? Promise.reject(new ApiError(0, 'malformed', selection.problem)) : readCounts(selection),
  );
  return (
    <>
      <div class="title">
        <h1 tabIndex={-1}>Dead letters</h1>
        <button type="button" class="plain" onClick={() => void refresh()}>
          Count again
        </button>
      </div>
      <p class="lead">
        A dead letter is a delivery whose attempts all failed. Choose a subscription to see its own, and send them
        again.
      </p>
      {error !== undefined && <Failure error={error} retry={() => void refresh()} />}
      {data === undefined && error === undefined && <p class="quiet">Counting …</p>}
      {data !== undefined && <CountsOf counts={data} filters={filters} />}
    </>
  );
}

function CountsOf({ counts, filters }: { readonly counts: Counts; readonly filters: Filters }): VNode {
  const { facets, webhookOf } = counts;
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      {isFiltered && (
        <p>
          <a href={linkTo('dead-letters')}>Show all dead letters</a>
        </p>
      )}
      {facets.matching === 0 && !isFiltered && (
        <Empty title="No dead letter">Every delivery reached its receiver, or still waits.</Empty>
      )}
      {facets.matching === 0 && isFiltered && <Empty title="No dead letter matches" />}
      {facets.matching > 0 && (
        <>
          <Table
            label="Dead letters by subscription"
            rows={facets.subscriptions}
            keyOf={({ webhookId }) => webhookId}
            columns={[
              {
                name: 'Receiver',
                cell: ({ webhookId }) => (
                  <a class="strong" href={linkTo('dead-letters', [webhookId], filters)}>
                    <Text>{webhookOf.get(webhookId)?.url ?? webhookId}</Text>
                  </a>
                ),
              },
              { name: 'Dead letters', cell: ({ count }) => count.toLocaleString('en') },
              {
                name: 'State',
                cell: ({ webhookId }) => {
                  const webhook = webhookOf.get(webhookId);
                  if (webhook === undefined) return '–';
                  const { tone, word } = standingOf(webhook);
                  return <Badge tone={tone}>{word}</Badge>;
                },
              },
            ]}
          />
          {!facets.isComplete && (
            <p class="quiet">
              {counted(facets.lookedAt, 'dead letter was', 'dead letters were')} looked at, the newest first. There are
              more.
            </p>
          )}
          <Later>
            {({ LetterFacetsView }) => (
              <LetterFacetsView
                facets={facets}
                filters={filters}
                link={(chosen) => linkTo('dead-letters', [], chosen)}
              />
            )}
          </Later>
        </>
      )}
    </>
  );
}

type Filters = Readonly<Record<string, string>>;

function OfSubscription({
  webhookId,
  filters,
}: {
  readonly webhookId: string;
  readonly filters: Readonly<Record<string, string>>;
}): VNode {
  const selection = letterFilter(filters);
  const path = `/webhooks/${encodeURIComponent(webhookId)}`;
  const webhook = usePolled(path, 0, () => own<WebhookDetails>('GET', path));
  const url = webhook.data?.url ?? '';
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('dead-letters')}>Dead letters</a> <span aria-hidden="true">/</span>{' '}
        <a href={linkTo('subscriptions', [webhookId])}>Subscription</a>
      </p>
      <h1 tabIndex={-1}>
        Dead letters{url !== '' && ' of '}
        <Text>{url}</Text>
      </h1>
      {webhook.error !== undefined && <Failure error={webhook.error} />}
      <FilterForm webhookId={webhookId} filters={filters} />
      {'problem' in selection ? (
        <p class="notice warn" role="alert">
          {selection.problem}
        </p>
      ) : (
        <Selected webhookId={webhookId} webhook={webhook.data} selection={selection} filters={filters} />
      )}
    </>
  );
}

function Selected(given: {
  readonly webhookId: string;
  readonly webhook: WebhookDetails | undefined;
  readonly selection: LetterFilter;
  readonly filters: Filters;
}): VNode {
  const { webhookId, webhook, selection, filters } = given;
  const path = `/webhooks/${encodeURIComponent(webhookId)}`;
  const [type] = selection.types ?? [];
  const counting = usePolled(JSON.stringify([path, selection]), 10_000, () =>
    own<Counted>('POST', `${path}/dead-letters/redrive-matching`, { ...selection, dryRun: true }),
  );
  const facets = usePolled(JSON.stringify(['facets', path, selection]), 0, () =>
    own<LetterFacets>('GET', `${path}/dead-letters/facets?${letterQuery(selection)}`),
  );
  const paged = useDeliveries(webhookId, {
    state: 'dead-lettered',
    type: selection.types?.length === 1 ? (type ?? '') : '',
    since: selection.since ?? '',
    until: selection.until ?? '',
  });
  // The list has no filter by status or by several types, so their rows are left out here, and further pages read for them.
  const rows = paged.rows.filter(
    ({ lastStatus, eventType }) => hasStatus(selection, lastStatus) && (selection.types?.includes(eventType) ?? true),
  );
  const { hasMore, isLoading, error, more } = paged;
  const isShort =
    rows.length < LEAST_ROWS && paged.rows.length < MOST_READ && hasMore && !isLoading && error === undefined;
  useEffect(() => {
    if (isShort) more();
  });
  const [isRedriving, setRedriving] = useState(false);
  return (
    <>
      <div class="controls">
        <p role="status">
          {counting.data === undefined
            ? 'Counting …'
            : `${counted(counting.data.matching, 'dead letter matches', 'dead letters match')}${counting.data.isComplete ? '' : ', or more'}.`}
        </p>
        {webhook !== undefined && (counting.data?.matching ?? 0) > 0 && (
          <button
            type="button"
            class="primary"
            disabled={webhook.state === 'failed'}
            onClick={() => setRedriving(true)}
          >
            Redrive these …
          </button>
        )}
      </div>
      {webhook?.state === 'failed' && (
        <p class="notice warn">
          The subscription has failed. Register it again, and transfer its dead letters to the new one.
        </p>
      )}
      {counting.error !== undefined && <Failure error={counting.error} />}
      <PagedTable
        label="Dead letters"
        paged={{ ...paged, rows }}
        keyOf={({ deliveryId }) => deliveryId}
        columns={deliveryColumns(webhookId)}
        empty={<Empty title="No dead letter matches" />}
      />
      {facets.error !== undefined && <Failure error={facets.error} retry={() => void facets.refresh()} />}
      {facets.data !== undefined && facets.data.matching > 0 && (
        <Later>
          {({ LetterFacetsView }) => (
            <LetterFacetsView
              facets={facets.data ?? NO_LETTERS}
              filters={filters}
              link={(chosen) => linkTo('dead-letters', [webhookId], chosen)}
            />
          )}
        </Later>
      )}
      {isRedriving && webhook !== undefined && (
        <RedriveDialog
          webhook={webhook}
          filter={selection}
          onClose={() => setRedriving(false)}
          onStarted={paged.reload}
        />
      )}
    </>
  );
}

const NO_LETTERS: LetterFacets = {
  ...{ matching: 0, lookedAt: 0, isComplete: true, step: 3600 },
  ...{ eventTypes: [], statuses: [], times: [] },
};
const LEAST_ROWS = 25;
const MOST_READ = 500;

function FilterForm({
  webhookId,
  filters,
}: {
  readonly webhookId: string;
  readonly filters: Readonly<Record<string, string>>;
}): VNode {
  const apply = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const given = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value)] as const);
    location.hash = linkTo('dead-letters', [webhookId], Object.fromEntries(given));
  };
  return (
    <search aria-label="Filter the dead letters">
      <form class="filter-form" onSubmit={apply} key={JSON.stringify(filters)}>
        <label>
          Event types
          <input
            name="type"
            placeholder="run.completed, run.failed"
            defaultValue={filters.type ?? ''}
            spellcheck={false}
          />
        </label>
        <label>
          Last statuses
          <input name="status" placeholder="500, 502 (0: no answer)" defaultValue={filters.status ?? ''} />
        </label>
        <label>
          Events since
          <input name="since" type="datetime-local" defaultValue={filters.since ?? ''} />
        </label>
        <label>
          Events until
          <input name="until" type="datetime-local" defaultValue={filters.until ?? ''} />
        </label>
        <button type="submit">Filter</button>
      </form>
    </search>
  );
}
