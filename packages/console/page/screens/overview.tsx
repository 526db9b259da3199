import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { own } from '../data/api.ts';
import { type Polled, usePolled } from '../data/polled.ts';
import { linkTo } from '../data/route.ts';
import type { Attempt, Counted, HostStatus, Webhook, WebhookDetails } from '../data/shapes.ts';
import { listWebhooks, type WebhookList } from '../data/webhooks.ts';
import { causeOf } from '../model/cause.ts';
import { spanText } from '../model/spans.ts';
import { inTrouble, standingOf } from '../model/standing.ts';
import { AttemptsStrip } from '../parts/attempts-strip.tsx';
import { Icon } from '../parts/icon.tsx';
import { Later } from '../parts/later.tsx';
import { Live } from '../parts/live.tsx';
import { Table } from '../parts/table.tsx';
import { Ago, Badge, Code, counted, Empty, Failure, ShortId, Text } from '../parts/words.tsx';
import { RedriveDialog } from './redrive-dialog.tsx';

interface View {
  readonly status: HostStatus;
  readonly list: WebhookList;
  readonly troubled: readonly Trouble[];
  /** The last attempts of the subscriptions that were read in full. */
  readonly latest: readonly (Attempt & { readonly webhookId: string })[];
}

interface Trouble {
  readonly webhook: WebhookDetails;
  readonly dead: Counted;
}

/** The first screen: is something wrong, what is it, and what is the next step. */
export function Overview({ filters }: { readonly filters: Readonly<Record<string, string>> }): VNode {
  const [everyMs, setEveryMs] = useState(EVERY_MS);
  const polled = usePolled('overview', everyMs, readView);
  const { data, error, refresh } = polled;
  // A newcomer tries the host out, and waits for the first delivery.
  const isNew = data !== undefined && data.latest.length === 0;
  useEffect(() => setEveryMs(isNew ? NEW_MS : EVERY_MS), [isNew]);
  return (
    <>
      <div class="title">
        <h1 tabIndex={-1}>Overview</h1>
        <Live polled={polled} everyMs={everyMs} />
      </div>
      {error !== undefined && <Failure error={error} retry={() => void refresh()} />}
      {data === undefined && error === undefined && <p class="quiet">Reading …</p>}
      {data !== undefined && <Judged view={data} polled={polled} hours={filters.hours ?? ''} />}
    </>
  );
}

// Each read is audited, so an open console must not fill the log.
const EVERY_MS = 10_000;
const NEW_MS = 2000;

/** Subscriptions that are read in full, so that a host with thousands of them is not asked for each. */
const MOST_DETAILS = 6;

async function readView(): Promise<View> {
  const [status, list] = await Promise.all([own<HostStatus>('GET', '/status'), listWebhooks()]);
  const troubled = inTrouble(list.webhooks);
  const others = list.webhooks.filter((webhook) => !troubled.includes(webhook)).slice(-MOST_DETAILS);
  const shown = [...troubled, ...others].slice(0, MOST_DETAILS);
  const details = await Promise.all(shown.map(({ webhookId }) => own<WebhookDetails>('GET', `/webhooks/${webhookId}`)));
  const worst = details.filter((webhook) => standingOf(webhook).weight > 0);
  const dead = await Promise.all(worst.map(({ webhookId }) => countDead(webhookId)));
  const latest = details
    .flatMap(({ webhookId, lastAttempts }) => lastAttempts.map((attempt) => ({ ...attempt, webhookId })))
    .sort((one, other) => other.at.localeCompare(one.at))
    .slice(0, 10);
  return { status, list, troubled: worst.map((webhook, index) => ({ webhook, dead: dead[index] ?? NONE })), latest };
}

const NONE: Counted = { matching: 0, lookedAt: 0, isComplete: true };

function countDead(webhookId: string): Promise<Counted> {
  return own<Counted>('POST', `/webhooks/${webhookId}/dead-letters/redrive-matching`, { dryRun: true });
}

function Judged(given: { readonly view: View; readonly polled: Polled<View>; readonly hours: string }): VNode {
  const { view, polled, hours } = given;
  const { status, list, troubled, latest } = view;
  const trouble = inTrouble(list.webhooks).filter((webhook) => standingOf(webhook).weight > 1).length;
  const failed = status.checks.filter(({ ok }) => !ok);
  const isGood = trouble === 0 && failed.length === 0;
  return (
    <>
      <p class={`verdict ${isGood ? 'good' : 'bad'}`} role="status">
        <Icon name={isGood ? 'good' : 'warn'} />
        {verdict(failed.length, trouble, list.webhooks.length)}
      </p>
      <Tiles view={view} />
      {troubled.length > 0 && (
        <section aria-labelledby="trouble">
          <h2 id="trouble">Needs attention</h2>
          <ul class="cards">
            {troubled.map((each) => (
              <TroubleCard key={each.webhook.webhookId} trouble={each} onChange={() => void polled.refresh()} />
            ))}
          </ul>
        </section>
      )}
      {latest.length > 0 && (
        <Later>
          {({ SeriesSection }) => (
            <SeriesSection hours={hours} link={(chosen) => linkTo('overview', [], { hours: chosen })} />
          )}
        </Later>
      )}
      <section aria-labelledby="latest">
        <h2 id="latest">Latest attempts</h2>
        {latest.length === 0 ? (
          <FirstSteps webhooks={list.webhooks} />
        ) : (
          <LatestAttempts latest={latest} webhooks={list.webhooks} />
        )}
      </section>
    </>
  );
}

function verdict(failedChecks: number, trouble: number, all: number): string {
  if (failedChecks > 0) return 'The host is not ready. The failed check is below.';
  if (trouble > 0) return `${counted(trouble, 'subscription needs', 'subscriptions need')} attention.`;
  return all === 0 ? 'The host is ready, and has no subscription yet.' : 'Every subscription receives its events.';
}

function Tiles({ view: { status, list, troubled } }: { readonly view: View }): VNode {
  const { deliveries, checks } = status;
  const active = list.webhooks.filter(({ state }) => state === 'active').length;
  const dead = troubled.reduce((sum, { dead: { matching } }) => sum + matching, 0);
  const isExact = troubled.every(({ dead: { isComplete } }) => isComplete);
  const failed = checks.filter(({ ok }) => !ok);
  return (
    <ul class="tiles">
      <li class={`tile ${status.ready ? 'good' : 'bad'}`}>
        <span class="tile-name">Host</span>
        <strong>{status.ready ? 'Ready' : 'Not ready'}</strong>
        <span class="quiet">
          {failed.length === 0 ? (
            `${counted(checks.length, 'check')} passed`
          ) : (
            <Text>{failed.map(({ name, reason }) => `${name}: ${reason ?? 'failed'}`).join(', ')}</Text>
          )}
        </span>
      </li>
      <li class="tile">
        <span class="tile-name">Deliveries due now</span>
        <strong>{deliveries === undefined ? '–' : upTo(deliveries.due, deliveries.countedUpTo)}</strong>
        <span class="quiet">
          {deliveries?.oldestDueForMs === undefined
            ? 'none waits'
            : `the oldest for ${spanText(deliveries.oldestDueForMs)}`}
        </span>
      </li>
      <li>
        <a class="tile" href={linkTo('subscriptions')}>
          <span class="tile-name">Active subscriptions</span>
          <strong>{active.toLocaleString('en')}</strong>
          <span class="quiet">
            of {list.webhooks.length.toLocaleString('en')}
            {list.isCut && ' or more'}
          </span>
        </a>
      </li>
      <li>
        <a class={`tile ${dead > 0 ? 'bad' : ''}`} href={linkTo('dead-letters')}>
          <span class="tile-name">Dead letters</span>
          <strong>
            {dead.toLocaleString('en')}
            {!isExact && '+'}
          </strong>
          <span class="quiet">of the subscriptions below</span>
        </a>
      </li>
    </ul>
  );
}

function upTo(count: number, most: number): string {
  return count >= most ? `${most.toLocaleString('en')}+` : count.toLocaleString('en');
}

function TroubleCard({ trouble, onChange }: { readonly trouble: Trouble; readonly onChange: () => void }): VNode {
  const { webhook, dead } = trouble;
  const [isRedriving, setRedriving] = useState(false);
  const standing = standingOf(webhook);
  const last = webhook.lastAttempts.find(({ outcome }) => outcome === 'failed');
  const cause = last === undefined ? undefined : causeOf(last);
  return (
    <li class={`card trouble ${standing.tone}`}>
      <div class="trouble-head">
        <Badge tone={standing.tone}>{standing.word}</Badge>
        <a class="strong" href={linkTo('subscriptions', [webhook.webhookId])}>
          <Text>{webhook.url}</Text>
        </a>
      </div>
      <div class="trouble-body">
        <div>
          {cause !== undefined && (
            <p>
              <strong>{cause.title}.</strong> {cause.sentence}
            </p>
          )}
          <p class="quiet">
            {webhook.failingSince !== undefined && (
              <>
                Failing since <Ago time={webhook.failingSince} />.{' '}
              </>
            )}
            {dead.matching > 0 && `${counted(dead.matching, 'dead letter')}${dead.isComplete ? '' : ' or more'}.`}
          </p>
        </div>
        <AttemptsStrip attempts={webhook.lastAttempts} />
      </div>
      <p class="actions">
        <a class="button primary" href={linkTo('subscriptions', [webhook.webhookId])}>
          See why
        </a>
        {dead.matching > 0 && webhook.state !== 'failed' && (
          <button type="button" onClick={() => setRedriving(true)}>
            Redrive …
          </button>
        )}
      </p>
      {isRedriving && (
        <RedriveDialog webhook={webhook} filter={{}} onClose={() => setRedriving(false)} onStarted={onChange} />
      )}
    </li>
  );
}

function LatestAttempts({
  latest,
  webhooks,
}: {
  readonly latest: View['latest'];
  readonly webhooks: readonly Webhook[];
}): VNode {
  const urlOf = new Map(webhooks.map(({ webhookId, url }) => [webhookId, url]));
  return (
    <Table
      label="Latest attempts"
      rows={latest}
      keyOf={({ deliveryId, attempt, at, webhookId }) => `${webhookId}${deliveryId}${attempt}${at}`}
      columns={[
        { name: 'Time', cell: ({ at }) => <Ago time={at} /> },
        {
          name: 'Outcome',
          cell: (attempt) => (
            <Badge tone={attempt.outcome === 'delivered' ? 'good' : attempt.outcome === 'failed' ? 'bad' : 'idle'}>
              {causeOf(attempt).title}
            </Badge>
          ),
        },
        {
          name: 'Event',
          cell: ({ webhookId, deliveryId, eventType }) => (
            <a href={linkTo('deliveries', [webhookId, deliveryId])}>
              <Text>{eventType}</Text>
              <ShortId>{deliveryId}</ShortId>
            </a>
          ),
        },
        { name: 'Receiver', cell: ({ webhookId }) => <Text>{urlOf.get(webhookId) ?? webhookId}</Text> },
        { name: 'Duration', cell: ({ durationMs }) => spanText(durationMs) },
      ]}
    />
  );
}

function FirstSteps({ webhooks }: { readonly webhooks: readonly Webhook[] }): VNode {
  return webhooks.length === 0 ? (
    <Empty title="No subscription yet">
      <p>Register one, and its deliveries appear here:</p>
      <pre>
        <Code>
          {
            'curl -X POST $HOST/v1/webhooks -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -d \'{"url":"https://…","events":["run.completed"],"tenantId":"…"}\''
          }
        </Code>
      </pre>
    </Empty>
  ) : (
    <Empty title="Nothing was sent yet">
      <p>Create a run, and its deliveries appear here within seconds.</p>
    </Empty>
  );
}
