import type { VNode } from 'preact';
import { own, raw } from '../data/api.ts';
import { usePolled } from '../data/polled.ts';
import { linkTo } from '../data/route.ts';
import type { HostStatus, Json } from '../data/shapes.ts';
import { type DiscoveryRow, discoveryRows, lanesIn } from '../model/discovery-rows.ts';
import { spanText } from '../model/spans.ts';
import { isObject } from '../model/timeline.ts';
import { FilterLinks } from '../parts/filter-links.tsx';
import { Live } from '../parts/live.tsx';
import { Table } from '../parts/table.tsx';
import { Ago, Badge, Code, counted, Empty, Fact, Facts, Failure, Text } from '../parts/words.tsx';

/** The host as it describes itself: its health, its versions, and what it serves in each major. */
export function HostPage({ filters }: { readonly filters: Readonly<Record<string, string>> }): VNode {
  const polled = usePolled('status', EVERY_MS, () => own<HostStatus>('GET', '/status'));
  const documents = usePolled('documents', 0, readDocuments);
  return (
    <>
      <section aria-labelledby="health">
        <div class="title">
          <h2 id="health">Health</h2>
          <Live polled={polled} everyMs={EVERY_MS} />
        </div>
        {polled.error !== undefined && <Failure error={polled.error} retry={() => void polled.refresh()} />}
        {polled.data !== undefined && <Health status={polled.data} />}
      </section>
      {documents.error !== undefined && <Failure error={documents.error} retry={() => void documents.refresh()} />}
      {documents.data === undefined && documents.error === undefined && <p class="quiet">Reading …</p>}
      {documents.data !== undefined && <Described {...documents.data} show={filters.show ?? ''} />}
    </>
  );
}

const EVERY_MS = 10_000;

interface Documents {
  readonly one: Json | undefined;
  readonly two: Json | undefined;
}

async function readDocuments(): Promise<Documents> {
  const read = async (major: 1 | 2): Promise<Json | undefined> => {
    const response = await raw('/.well-known/svc', major);
    const document: Json = await response.json();
    // A host of one major answers with its own document, whichever is asked for.
    const served = isObject(document) && Array.isArray(document.protocolVersions) ? document.protocolVersions : [];
    return served.some((version) => String(version).startsWith(`${major}.`)) ? document : undefined;
  };
  const [one, two] = await Promise.all([read(1), read(2)]);
  return { one, two };
}

function Health({ status }: { readonly status: HostStatus }): VNode {
  const { ready, checks, clockAheadMs, deliveries } = status;
  return (
    <Facts>
      <Fact name="Host">
        <Badge tone={ready ? 'good' : 'bad'}>{ready ? 'ready' : 'not ready'}</Badge>
      </Fact>
      {checks.map(({ name, ok, reason }) => (
        <Fact key={name} name={`Check: ${CHECKS[name] ?? name}`}>
          <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'passed' : (reason ?? 'failed')}</Badge>
        </Fact>
      ))}
      <Fact name="Clock of the store">
        {clockAheadMs === undefined
          ? 'that of the host'
          : `the host is ${spanText(Math.abs(clockAheadMs))} ${clockAheadMs < 0 ? 'behind' : 'ahead'}`}
      </Fact>
      <Fact name="Deliveries due now, of this tenant">
        {deliveries === undefined
          ? 'not known: the store did not respond'
          : `${deliveries.due.toLocaleString('en')}${deliveries.due >= deliveries.countedUpTo ? ' or more' : ''}`}
        {deliveries?.oldestDueAt !== undefined && (
          <>
            , the oldest <Ago time={deliveries.oldestDueAt} />
          </>
        )}
      </Fact>
    </Facts>
  );
}

const CHECKS: Readonly<Record<string, string>> = {
  lifecycle: 'the host has started',
  store: 'the store takes a write',
  deliveries: 'deliveries make progress',
};

function Described({ one, two, show }: Documents & { readonly show: string }): VNode {
  const document = isObject(two) ? two : isObject(one) ? one : {};
  const implementation = isObject(document.implementation) ? document.implementation : {};
  const lanes = lanesIn(two);
  const rows = discoveryRows(one, two);
  const different = rows.filter((row) => row.one !== row.two);
  const word = (value: Json | undefined) => (Array.isArray(value) ? value.join(', ') : String(value ?? '–'));
  return (
    <>
      <section aria-labelledby="versions">
        <h2 id="versions">Versions</h2>
        <Facts>
          <Fact name="Implementation">
            <Text>{`${word(implementation.name)} ${word(implementation.version)}`}</Text>
          </Fact>
          <Fact name="Vendor">
            <Text>{word(implementation.vendor)}</Text>
          </Fact>
          <Fact name="Protocol">
            <Text>{`${word(document.protocolVersions)}, preferred ${word(document.preferredVersion)}`}</Text>
          </Fact>
          <Fact name="Schema of the event log">
            <Text>{word(document.eventLogSchemaVersion)}</Text>
          </Fact>
        </Facts>
      </section>
      <section aria-labelledby="lanes">
        <h2 id="lanes">Lanes of callers</h2>
        {lanes.length === 0 && <Empty title="The host names no lane" />}
        {lanes.length > 0 && (
          <Table
            label="Lanes"
            rows={lanes}
            keyOf={({ lane, issuers }) => lane + issuers.join()}
            columns={[
              { name: 'Lane', cell: ({ lane }) => <Text>{lane}</Text> },
              { name: 'Issuers', cell: ({ issuers }) => <Text>{issuers.join(', ')}</Text> },
              { name: 'A revocation holds from', cell: ({ revocation }) => <Text>{revocation}</Text> },
              { name: 'Least assurance', cell: ({ assurance }) => <Text>{assurance}</Text> },
            ]}
          />
        )}
      </section>
      <section aria-labelledby="discovery">
        <h2 id="discovery">Discovery of both majors</h2>
        <p class="lead">
          {counted(different.length, 'member differs', 'members differ')} of {rows.length.toLocaleString('en')}. Members
          that major 1 repeats under capabilities are shown once.
        </p>
        <div class="title">
          <FilterLinks
            label="Members"
            current={show}
            choices={[
              { value: '', name: 'Differences' },
              { value: 'all', name: 'All' },
            ]}
            link={(chosen) => linkTo('host', [], { show: chosen })}
          />
        </div>
        <Table
          label="Discovery of both majors"
          rows={show === 'all' ? rows : different}
          keyOf={({ path }) => path}
          columns={[
            { name: 'Member', cell: ({ path }) => <Code>{path}</Code> },
            { name: 'Compared', cell: (row) => <Compared row={row} /> },
            { name: 'Major 1', cell: (row) => <Value>{row.one}</Value> },
            { name: 'Major 2', cell: (row) => <Value>{row.two}</Value> },
          ]}
        />
      </section>
    </>
  );
}

function Compared({ row: { one, two } }: { readonly row: DiscoveryRow }): VNode {
  if (one === two) return <Badge tone="idle">same</Badge>;
  if (one === undefined) return <Badge tone="warn">major 2 alone</Badge>;
  return <Badge tone="warn">{two === undefined ? 'major 1 alone' : 'differs'}</Badge>;
}

function Value({ children }: { readonly children: string | undefined }): VNode {
  return children === undefined ? <span class="quiet">–</span> : <Code>{children.slice(0, 500)}</Code>;
}
