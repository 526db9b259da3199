import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { isPortal, may, own } from '../data/api.ts';
import { usePolled } from '../data/polled.ts';
import { linkTo } from '../data/route.ts';
import type { Attempt, DeliveryDetails } from '../data/shapes.ts';
import { causeOf } from '../model/cause.ts';
import { spanText } from '../model/spans.ts';
import { deliveryTone } from '../model/standing.ts';
import { ActionError, useAction } from '../parts/action.tsx';
import { Live } from '../parts/live.tsx';
import { Ago, Badge, Code, Empty, Fact, Facts, Failure, Text } from '../parts/words.tsx';

/** One delivery with its attempts. */
export function DeliveryPage({
  webhookId,
  deliveryId,
}: {
  readonly webhookId: string;
  readonly deliveryId: string;
}): VNode {
  const path = `/webhooks/${encodeURIComponent(webhookId)}/deliveries/${encodeURIComponent(deliveryId)}`;
  const polled = usePolled(path, EVERY_MS, () => own<DeliveryDetails>('GET', path));
  const { data, error, refresh } = polled;
  const action = useAction();
  const [told, setTold] = useState<string | undefined>(undefined);
  const resend = () =>
    action.run(async () => {
      const { queued } = await own<{ queued: boolean }>('POST', `${path}/resend`);
      setTold(
        queued
          ? 'The delivery is queued again. Its next attempt appears below.'
          : 'The delivery waits for an attempt already.',
      );
      await refresh();
    });
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('subscriptions')}>Subscriptions</a> <span aria-hidden="true">/</span>{' '}
        <a href={linkTo('subscriptions', [webhookId])}>Subscription</a>
      </p>
      <div class="title">
        <h1 tabIndex={-1}>
          <Text>{data?.eventType ?? 'Delivery'}</Text>
        </h1>
        <Live polled={polled} everyMs={EVERY_MS} />
      </div>
      {error !== undefined && <Failure error={error} retry={() => void refresh()} />}
      {data !== undefined && (
        <>
          <div class="controls">
            <Badge tone={deliveryTone(data.state)}>{data.state}</Badge>
            {may('redrive') && (
              <button
                type="button"
                class={data.state === 'delivered' ? '' : 'primary'}
                disabled={action.isBusy || data.state === 'waiting'}
                onClick={() => void resend()}
              >
                Send again
              </button>
            )}
          </div>
          <ActionError action={action} />
          {told !== undefined && (
            <p class="notice good" role="status">
              {told}
            </p>
          )}
          <Attempts attempts={data.lastAttempts} delivery={data} />
          <section aria-labelledby="about">
            <h2 id="about">About this delivery</h2>
            <Facts>
              <Fact name="Delivery id">
                <Code>{data.deliveryId}</Code>
              </Fact>
              <Fact name="Run">
                {isPortal() ? (
                  <Text>{data.runId}</Text>
                ) : (
                  <a href={linkTo('runs', [data.runId])}>
                    <Text>{data.runId}</Text>
                  </a>
                )}
                , event {data.sequence}
              </Fact>
              <Fact name="Time of the event">
                <Ago time={data.createdAt} />
              </Fact>
              {data.expiresAt !== undefined && (
                <Fact name="Deleted">
                  <Ago time={data.expiresAt} />
                </Fact>
              )}
            </Facts>
          </section>
        </>
      )}
    </>
  );
}

const EVERY_MS = 3000;

function Attempts({
  attempts,
  delivery,
}: {
  readonly attempts: readonly Attempt[];
  readonly delivery: DeliveryDetails;
}): VNode {
  const { state, nextAttemptAt, attempts: made } = delivery;
  return (
    <section aria-labelledby="attempts">
      <h2 id="attempts">Attempts</h2>
      {attempts.length === 0 && (
        <Empty title={made === 0 ? 'No attempt yet' : 'The attempts are no longer stored'}>
          {made > 0 && <p>A subscription keeps its last attempts, and this delivery ended before them.</p>}
        </Empty>
      )}
      <ol class="attempts" reversed>
        {state === 'waiting' && (
          <li class="next">
            <span class="dot" aria-hidden="true" />
            <p>
              The next attempt is <Ago time={nextAttemptAt} />.
            </p>
          </li>
        )}
        {attempts.map((attempt) => (
          <AttemptItem key={`${attempt.attempt}${attempt.at}`} attempt={attempt} />
        ))}
      </ol>
    </section>
  );
}

function AttemptItem({ attempt }: { readonly attempt: Attempt }): VNode {
  const cause = causeOf(attempt);
  return (
    <li class={attempt.outcome}>
      <span class="dot" aria-hidden="true" />
      <p>
        <strong>
          Attempt {attempt.attempt}: {cause.title}
        </strong>{' '}
        <span class="quiet">
          <Ago time={attempt.at} />, {spanText(attempt.durationMs)}
        </span>
      </p>
      <p>
        {cause.sentence} {cause.remedy}
      </p>
      {attempt.phases !== undefined && attempt.phases.length > 0 && <Phases phases={attempt.phases} />}
    </li>
  );
}

/** The phases of an attempt as one bar, with their durations in words. */
function Phases({ phases }: { readonly phases: NonNullable<Attempt['phases']> }): VNode {
  const whole = phases.reduce((sum, { durationMs }) => sum + durationMs, 0) || 1;
  let x = 0;
  return (
    <figure class="phases">
      <svg viewBox="0 0 200 8" preserveAspectRatio="none" aria-hidden="true">
        {phases.map(({ phase, durationMs }) => {
          const from = x;
          const width = (durationMs / whole) * 200;
          x += width;
          return <rect key={phase} class={`phase-${phase}`} x={from} y="0" width={Math.max(1, width)} height="8" />;
        })}
      </svg>
      <figcaption class="quiet">
        {phases.map(({ phase, durationMs }) => `${phase} ${spanText(durationMs)}`).join(' · ')}
      </figcaption>
    </figure>
  );
}
