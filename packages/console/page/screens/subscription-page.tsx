import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { may, own } from '../data/api.ts';
import { usePolled } from '../data/polled.ts';
import { linkTo } from '../data/route.ts';
import type { Attempt, Counted, WebhookDetails } from '../data/shapes.ts';
import { countDead } from '../data/webhooks.ts';
import { causeOf } from '../model/cause.ts';
import { spanText } from '../model/spans.ts';
import { standingOf } from '../model/standing.ts';
import { ActionError, useAction } from '../parts/action.tsx';
import { AttemptsStrip } from '../parts/attempts-strip.tsx';
import { Live } from '../parts/live.tsx';
import { Table } from '../parts/table.tsx';
import { Ago, Badge, Code, counted, Empty, Fact, Facts, Failure, ShortId, Text } from '../parts/words.tsx';
import { Deliveries } from './deliveries.tsx';
import { Jobs } from './jobs.tsx';
import { RedriveDialog } from './redrive-dialog.tsx';
import { RotateDialog } from './rotate-dialog.tsx';

interface View {
  readonly webhook: WebhookDetails;
  readonly dead: Counted;
}

/** One subscription: why it fails, what can be done, and its deliveries. */
export function SubscriptionPage(given: {
  readonly webhookId: string;
  readonly filters: Readonly<Record<string, string>>;
  /** Shows more about the subscription. Its controls stand beside those of the page. Default: nothing. */
  readonly more?: More;
}): VNode {
  const { webhookId, filters, more = {} } = given;
  const polled = usePolled(webhookId, EVERY_MS, () => readView(webhookId));
  const { data, error, refresh } = polled;
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('subscriptions')}>Subscriptions</a>
      </p>
      <div class="title">
        <h1 tabIndex={-1}>
          <Text>{data?.webhook.url ?? 'Subscription'}</Text>
        </h1>
        <Live polled={polled} everyMs={EVERY_MS} />
      </div>
      {error !== undefined && <Failure error={error} retry={() => void refresh()} />}
      {data === undefined && error === undefined && <p class="quiet">Reading …</p>}
      {data !== undefined && <Details view={data} refresh={refresh} filters={filters} more={more} />}
    </>
  );
}

/** The additions of a page to a subscription: a section that is made again with each `turn`, and a control. */
export interface More {
  readonly section?: (turn: number) => VNode;
  readonly control?: (webhook: WebhookDetails, refresh: () => Promise<void>) => VNode;
}

const EVERY_MS = 10_000;

async function readView(webhookId: string): Promise<View> {
  const path = `/webhooks/${encodeURIComponent(webhookId)}`;
  const [webhook, dead] = await Promise.all([own<WebhookDetails>('GET', path), countDead(path)]);
  return { webhook, dead };
}

function Details(given: {
  readonly view: View;
  readonly refresh: () => Promise<void>;
  readonly filters: Readonly<Record<string, string>>;
  readonly more: More;
}): VNode {
  const { view, refresh, filters, more } = given;
  const { webhook, dead } = view;
  const [jobsTurn, setJobsTurn] = useState(0);
  const last = webhook.lastAttempts[0];
  const [listTurn, setListTurn] = useState(0);
  const moved = () => {
    setListTurn((turn) => turn + 1);
    void refresh();
  };
  const started = () => {
    setJobsTurn((turn) => turn + 1);
    moved();
  };
  return (
    <>
      <Controls view={view} refresh={refresh} onStarted={started} control={more.control} />
      {last?.outcome === 'failed' && <WhyItFails webhook={webhook} last={last} dead={dead} />}
      <Jobs webhookId={webhook.webhookId} turn={jobsTurn} onMoved={moved} />
      {more.section?.(listTurn)}
      <section aria-labelledby="attempts">
        <h2 id="attempts">Last attempts</h2>
        <LastAttempts webhook={webhook} />
      </section>
      <Deliveries webhookId={webhook.webhookId} filters={filters} turn={listTurn} />
      <section aria-labelledby="about">
        <h2 id="about">About this subscription</h2>
        <About webhook={webhook} />
      </section>
    </>
  );
}

function Controls(given: {
  readonly view: View;
  readonly refresh: () => Promise<void>;
  readonly onStarted: () => void;
  readonly control: More['control'];
}): VNode {
  const { view, refresh, onStarted, control } = given;
  const { webhook, dead } = view;
  const action = useAction();
  const [open, setOpen] = useState<'redrive' | 'rotate' | undefined>(undefined);
  const [test, setTest] = useState<Attempt | undefined>(undefined);
  const path = `/webhooks/${webhook.webhookId}`;
  const standing = standingOf(webhook);
  const change = (signal: 'pause' | 'resume') => action.run(() => own('POST', `${path}/${signal}`).then(refresh));
  const send = () =>
    action.run(async () => {
      setTest(undefined);
      setTest(await own<Attempt>('POST', `${path}/test`, {}));
    });
  return (
    <>
      <div class="controls">
        <Badge tone={standing.tone}>{standing.word}</Badge>
        {dead.matching > 0 && webhook.state !== 'failed' && may('redrive') && (
          <button type="button" class="primary" onClick={() => setOpen('redrive')}>
            {`Redrive ${counted(dead.matching, 'dead letter')} …`}
          </button>
        )}
        {may('test') && (
          <button type="button" disabled={action.isBusy} onClick={() => void send()}>
            Send a test
          </button>
        )}
        {webhook.state === 'active' && may('pause') && (
          <button type="button" disabled={action.isBusy} onClick={() => void change('pause')}>
            Pause
          </button>
        )}
        {webhook.state === 'paused' && may('pause') && (
          <button type="button" class="primary" disabled={action.isBusy} onClick={() => void change('resume')}>
            Resume
          </button>
        )}
        {may('rotate') && (
          <button type="button" onClick={() => setOpen('rotate')}>
            Rotate the secret …
          </button>
        )}
        {control?.(webhook, refresh)}
      </div>
      <ActionError action={action} />
      {test !== undefined && <TestOutcome attempt={test} />}
      {open === 'redrive' && (
        <RedriveDialog webhook={webhook} filter={{}} onClose={() => setOpen(undefined)} onStarted={onStarted} />
      )}
      {open === 'rotate' && (
        <RotateDialog webhook={webhook} onClose={() => setOpen(undefined)} onRotated={() => void refresh()} />
      )}
    </>
  );
}

function TestOutcome({ attempt }: { readonly attempt: Attempt }): VNode {
  const cause = causeOf(attempt);
  const isGood = attempt.outcome === 'delivered';
  return (
    <div class={`notice ${isGood ? 'good' : 'bad'}`} role="status">
      <p>
        <strong>Test: {cause.title}.</strong> {cause.sentence} It took {spanText(attempt.durationMs)}.{' '}
        {!isGood && cause.remedy}
      </p>
    </div>
  );
}

function WhyItFails({
  webhook,
  last,
  dead,
}: {
  readonly webhook: WebhookDetails;
  readonly last: Attempt;
  readonly dead: Counted;
}): VNode {
  const cause = causeOf(last);
  const { circuit } = webhook;
  return (
    <section class="card why" aria-labelledby="why">
      <h2 id="why">Why it fails</h2>
      <p class="cause">
        <strong>{cause.title}.</strong> {cause.sentence}
      </p>
      {cause.remedy !== undefined && <p class="remedy">{cause.remedy}</p>}
      <Facts>
        <Fact name="Last attempt">
          <a href={linkTo('deliveries', [webhook.webhookId, last.deliveryId])}>
            <Ago time={last.at} />
          </a>
          , attempt {last.attempt}, after {spanText(last.durationMs)}
        </Fact>
        {webhook.failingSince !== undefined && (
          <Fact name="Failing since">
            <Ago time={webhook.failingSince} />
          </Fact>
        )}
        {circuit.until !== undefined && circuit.state !== 'closed' && (
          <Fact name="Circuit">
            {circuit.state}; the next probe is <Ago time={circuit.until} />
          </Fact>
        )}
        <Fact name="Dead letters">
          <a href={linkTo('dead-letters', [webhook.webhookId])}>
            {counted(dead.matching, 'delivery', 'deliveries')}
            {!dead.isComplete && ' or more'}
          </a>
        </Fact>
      </Facts>
      <AttemptsStrip attempts={webhook.lastAttempts} />
    </section>
  );
}

function LastAttempts({ webhook: { webhookId, lastAttempts } }: { readonly webhook: WebhookDetails }): VNode {
  const [most, setMost] = useState(FIRST_SHOWN);
  if (lastAttempts.length === 0) {
    return (
      <Empty title="No attempt yet">
        <p>Send a test, and its outcome appears above.</p>
      </Empty>
    );
  }
  return (
    <>
      <Table
        label="Last attempts"
        rows={lastAttempts.slice(0, most)}
        keyOf={({ deliveryId, attempt, at }) => `${deliveryId}${attempt}${at}`}
        columns={[
          { name: 'Time', cell: ({ at }) => <Ago time={at} /> },
          {
            name: 'Outcome',
            cell: (attempt) => {
              const tone = attempt.outcome === 'delivered' ? 'good' : attempt.outcome === 'failed' ? 'bad' : 'idle';
              return <Badge tone={tone}>{causeOf(attempt).title}</Badge>;
            },
          },
          {
            name: 'Event',
            cell: ({ deliveryId, eventType }) => (
              <a href={linkTo('deliveries', [webhookId, deliveryId])}>
                <Text>{eventType}</Text>
                <ShortId>{deliveryId}</ShortId>
              </a>
            ),
          },
          { name: 'Attempt', cell: ({ attempt }) => String(attempt) },
          { name: 'Duration', cell: ({ durationMs }) => spanText(durationMs) },
        ]}
      />
      {lastAttempts.length > most && (
        <p class="after">
          <button type="button" onClick={() => setMost(lastAttempts.length)}>
            {`Show all ${lastAttempts.length}`}
          </button>
        </p>
      )}
    </>
  );
}

const FIRST_SHOWN = 6;

function About({ webhook }: { readonly webhook: WebhookDetails }): VNode {
  return (
    <Facts>
      <Fact name="Id">
        <Code>{webhook.webhookId}</Code>
      </Fact>
      {webhook.description !== undefined && (
        <Fact name="Description">
          <Text>{webhook.description}</Text>
        </Fact>
      )}
      <Fact name="Events">
        <Text>{webhook.events.join(', ')}</Text>
      </Fact>
      {webhook.tags.length > 0 && (
        <Fact name="Tags">
          <Text>{webhook.tags.join(', ')}</Text>
        </Fact>
      )}
      <Fact name="Workspaces">
        <Text>{webhook.workspaces.join(', ')}</Text>
      </Fact>
      <Fact name="Deliveries">
        {webhook.durable ? 'Durable: retried, then dead letters' : 'Best effort: one attempt each'}, in major{' '}
        {webhook.major}
      </Fact>
      <Fact name="Secret">
        fingerprint <Code>{webhook.secretFingerprint}</Code>
        {webhook.previousSecretExpiresAt !== undefined && (
          <>
            ; the former one signs too, and expires <Ago time={webhook.previousSecretExpiresAt} />
          </>
        )}
      </Fact>
      <Fact name="Registered">
        <Ago time={webhook.createdAt} />
      </Fact>
    </Facts>
  );
}
