import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { protocol, session } from '../data/api.ts';
import { type StreamState, useFollowed } from '../data/followed.ts';
import { usePaged } from '../data/paged.ts';
import { linkTo } from '../data/route.ts';
import type { Run } from '../data/shapes.ts';
import { timeOfId } from '../model/spans.ts';
import { runTone } from '../model/standing.ts';
import { FilterLinks } from '../parts/filter-links.tsx';
import { PagedTable } from '../parts/table.tsx';
import { Ago, Badge, capitalized, Empty, Text } from '../parts/words.tsx';

const STATUSES = [
  '',
  'running',
  'waiting-approval',
  'waiting-input',
  'waiting-external',
  'completed',
  'failed',
  'cancelled',
];

/** The runs, newest first. The list is read again when an event of any run arrives. */
export function Runs({ filters }: { readonly filters: Readonly<Record<string, string>> }): VNode {
  const { status = '', workflowId = '' } = filters;
  const paged = usePaged<Run>(`${status}/${workflowId}`, async (cursor) => {
    const given = Object.entries({ status, workflowId, cursor: cursor ?? '', limit: '50' }).filter(
      ([, value]) => value !== '',
    );
    const found = await protocol<{ runs: readonly Run[]; nextCursor?: string }>(
      'GET',
      `/runs?${new URLSearchParams(given)}`,
    );
    return { rows: found.runs, next: found.nextCursor };
  });
  // A list that the user has prolonged stays as it is, or the rows would move under the pointer.
  const isFirstPage = paged.rows.length <= 50;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const state = useFollowed(`${session.value?.own ?? ''}/events?from=now`, () => {
    if (!isFirstPage || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      paged.reload();
    }, AT_MOST_EVERY_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <>
      <div class="title">
        <h1 tabIndex={-1}>Runs</h1>
        <StreamBadge state={state} />
      </div>
      <FilterLinks
        label="Status of the run"
        current={status}
        choices={STATUSES.map((value) => ({
          value,
          name: value === '' ? 'All' : capitalized(value.replace('-', ' for ')),
        }))}
        link={(chosen) => linkTo('runs', [], { status: chosen, workflowId })}
      />
      <PagedTable
        label="Runs"
        paged={paged}
        keyOf={({ runId }) => runId}
        columns={[
          {
            name: 'Workflow',
            cell: ({ runId, workflowId: name }) => (
              <a class="strong" href={linkTo('runs', [runId])}>
                <Text>{name}</Text>
              </a>
            ),
          },
          { name: 'Status', cell: (run) => <Badge tone={runTone(run.status)}>{run.status}</Badge> },
          { name: 'Created', cell: ({ runId }) => <Ago time={timeOfId(runId)} /> },
          {
            name: 'Waits at',
            cell: ({ currentNodeId }) => (currentNodeId === undefined ? '–' : <Text>{currentNodeId}</Text>),
          },
          { name: 'Error', cell: ({ error }) => (error === undefined ? '–' : <Text>{error.message}</Text>) },
        ]}
        empty={<Empty title={status === '' ? 'No run yet' : `No run is ${status.replace('-', ' for ')}`} />}
      />
    </>
  );
}

const AT_MOST_EVERY_MS = 1000;

/** Tells the state of a stream. */
export function StreamBadge({ state }: { readonly state: StreamState }): VNode {
  if (state === 'live') return <Badge tone="good">live</Badge>;
  if (state === 'ended') return <Badge tone="idle">ended</Badge>;
  return state === 'waiting' ? <Badge tone="warn">reconnecting</Badge> : <Badge tone="idle">connecting</Badge>;
}
