import type { VNode } from 'preact';
import { own } from '../data/api.ts';
import { usePaged } from '../data/paged.ts';
import { linkTo } from '../data/route.ts';
import type { AuditEntry } from '../data/shapes.ts';
import { auditSentence } from '../model/audit-sentence.ts';
import { FilterLinks } from '../parts/filter-links.tsx';
import { PagedTable } from '../parts/table.tsx';
import { Ago, Badge, Empty, Text } from '../parts/words.tsx';
import { AuditCheck } from './audit-check.tsx';

/** The audit log of the tenant: who did what, and what was refused. */
export function AuditLog({ filters }: { readonly filters: Readonly<Record<string, string>> }): VNode {
  const { show = '', action = '', principal = '' } = filters;
  const paged = usePaged<AuditEntry>(`${show}/${action}/${principal}`, (cursor) =>
    readPage({ show, action, principal }, cursor),
  );
  const apply = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const given = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value).trim()] as const);
    location.hash = linkTo('audit', [], { show, ...Object.fromEntries(given) });
  };
  return (
    <>
      <div class="title">
        <h1 tabIndex={-1}>Audit</h1>
        <button type="button" class="plain" onClick={paged.reload}>
          Read again
        </button>
      </div>
      <AuditCheck />
      <FilterLinks
        label="Entries"
        current={show}
        choices={[
          { value: '', name: 'Changes and refusals' },
          { value: 'all', name: 'Every request' },
        ]}
        link={(chosen) => linkTo('audit', [], { show: chosen, action, principal })}
      />
      <search aria-label="Filter the audit log">
        <form class="filter-form" onSubmit={apply} key={`${action}/${principal}`}>
          <label>
            Action
            <input name="action" placeholder="webhook.register" defaultValue={action} spellcheck={false} />
          </label>
          <label>
            Principal
            <input name="principal" placeholder="p_7f3a" defaultValue={principal} spellcheck={false} />
          </label>
          <button type="submit">Filter</button>
        </form>
      </search>
      <PagedTable
        label="Audit entries"
        paged={paged}
        keyOf={({ atSequence }) => String(atSequence)}
        columns={[
          { name: 'Time', cell: ({ occurredAt }) => <Ago time={occurredAt} /> },
          {
            name: 'What',
            cell: (entry) => {
              const { text, isRefused } = auditSentence(entry);
              return (
                <>
                  {isRefused && <Badge tone="bad">refused</Badge>} <Text>{text}</Text>
                </>
              );
            },
          },
          { name: 'Who', cell: ({ actor }) => <Text>{actor ?? 'the host'}</Text> },
          {
            name: 'Target',
            cell: ({ target }) =>
              target === null ? (
                '–'
              ) : (
                <span class="break">
                  <Text>{target}</Text>
                </span>
              ),
          },
          { name: 'Entry', cell: ({ atSequence }) => String(atSequence) },
        ]}
        empty={<Empty title="No entry matches" />}
      />
    </>
  );
}

/**
 * Reads entries until a page is filled. An open console makes requests itself, so plain requests are left out unless they
 * are asked for.
 */
async function readPage(filter: { show: string; action: string; principal: string }, cursor: string | undefined) {
  const { show, action, principal } = filter;
  const rows: AuditEntry[] = [];
  let before = cursor ?? '';
  for (let page = 0; page < MOST_PAGES && rows.length < LEAST_ROWS; page += 1) {
    const given = Object.entries({ before, action, principal, limit: '200' }).filter(([, value]) => value !== '');
    const found = await own<{ entries: readonly AuditEntry[]; nextBefore?: number }>(
      'GET',
      `/audit?${new URLSearchParams(given)}`,
    );
    rows.push(...found.entries.filter((entry) => show === 'all' || action !== '' || !isPlainRequest(entry)));
    if (found.nextBefore === undefined) return { rows, next: undefined };
    before = String(found.nextBefore);
  }
  return { rows, next: before };
}

const MOST_PAGES = 5;
const LEAST_ROWS = 50;

function isPlainRequest({ action, details: { status, allowed } }: AuditEntry): boolean {
  return (
    action === 'request' && allowed !== false && !(typeof status === 'number' && (status === 401 || status === 403))
  );
}
