import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { protocol } from '../data/api.ts';
import { useFollowed } from '../data/followed.ts';
import { usePolled } from '../data/polled.ts';
import { linkTo } from '../data/route.ts';
import type { Run, RunEvent } from '../data/shapes.ts';
import { useTick } from '../data/tick.ts';
import { afterMessages } from '../model/run-log.ts';
import { timeOfId } from '../model/spans.ts';
import { hasEnded, runTone } from '../model/standing.ts';
import { questionOf, timelineOf } from '../model/timeline.ts';
import { shownJson } from '../model/visible-text.ts';
import { ActionError, useAction } from '../parts/action.tsx';
import { Later } from '../parts/later.tsx';
import { NodeTimeline } from '../parts/node-timeline.tsx';
import { Ago, Badge, Code, Empty, Fact, Facts, Failure, Text } from '../parts/words.tsx';
import { AnswerCard } from './answer-card.tsx';
import { StreamBadge } from './runs.tsx';

/** One run: its state, its nodes over time, its question, and its log as it grows. */
export function RunPage({ runId }: { readonly runId: string }): VNode {
  // Major 2 writes the slash between tenant and id as `~2F` in a path.
  const path = `/runs/${encodeURIComponent(runId.replace('/', '~2F'))}`;
  const [events, setEvents] = useState<readonly RunEvent[]>([]);
  const polled = usePolled(path, 0, () => protocol<Run>('GET', path));
  const { data: run, error, refresh } = polled;
  const state = useFollowed(`${path}/events?streamMode=debug&bufferMs=200`, (messages) => {
    setEvents((old) => afterMessages(old, messages));
    void refresh();
  });
  const question = run === undefined ? undefined : questionOf(events, run.currentNodeId);
  const now = useTick(run === undefined || hasEnded(run.status));
  const timeline = timelineOf(events, now);
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('runs')}>Runs</a>
      </p>
      <div class="title">
        <h1 tabIndex={-1}>
          <Text>{run?.workflowId ?? 'Run'}</Text>
        </h1>
        <StreamBadge state={state} />
      </div>
      {error !== undefined && <Failure error={error} retry={() => void refresh()} />}
      {run !== undefined && <Controls run={run} path={path} refresh={refresh} />}
      {run?.error !== undefined && (
        <div class="notice bad">
          <p>
            <strong>
              <Text>{run.error.code}</Text>.
            </strong>{' '}
            <Text>{run.error.message}</Text>
          </p>
        </div>
      )}
      {question !== undefined && (
        <AnswerCard key={question.nodeId} question={question} path={path} onAnswered={() => void refresh()} />
      )}
      {timeline !== undefined && timeline.lanes.length > 0 && (
        <section aria-labelledby="timeline">
          <h2 id="timeline">Nodes over time</h2>
          <NodeTimeline timeline={timeline} />
        </section>
      )}
      {events.some(({ type }) => type === 'artifact.created') && (
        <section aria-labelledby="artifacts">
          <h2 id="artifacts">Artifacts</h2>
          <Later>{({ Artifacts }) => <Artifacts path={path} events={events} />}</Later>
        </section>
      )}
      <section aria-labelledby="log">
        <h2 id="log">Log</h2>
        {events.length === 0 ? <Empty title="No event yet" /> : <Log events={events} />}
      </section>
    </>
  );
}

function Controls({
  run,
  path,
  refresh,
}: {
  readonly run: Run;
  readonly path: string;
  readonly refresh: () => Promise<void>;
}): VNode {
  const action = useAction();
  const change = (name: string) => void action.run(() => protocol('POST', `${path}${name}`, {}).then(refresh));
  return (
    <>
      <div class="controls">
        <Badge tone={runTone(run.status)}>{run.status}</Badge>
        {run.status === 'paused' && (
          <button type="button" class="primary" disabled={action.isBusy} onClick={() => change(':resume')}>
            Resume
          </button>
        )}
        {(run.status === 'running' || run.status === 'pending') && (
          <button type="button" disabled={action.isBusy} onClick={() => change(':pause')}>
            Pause
          </button>
        )}
        {!hasEnded(run.status) && (
          <button type="button" disabled={action.isBusy} onClick={() => change('/cancel')}>
            Cancel the run
          </button>
        )}
      </div>
      <ActionError action={action} />
      <Facts>
        <Fact name="Run id">
          <Code>{run.runId}</Code>
        </Fact>
        <Fact name="Created">
          <Ago time={timeOfId(run.runId)} />
        </Fact>
        {run.tags !== undefined && (
          <Fact name="Tags">
            <Text>{run.tags.join(', ')}</Text>
          </Fact>
        )}
      </Facts>
    </>
  );
}

function Log({ events }: { readonly events: readonly RunEvent[] }): VNode {
  const [most, setMost] = useState(FIRST_SHOWN);
  // Newest first, as all lists of the console.
  const shown = events.slice(-most).reverse();
  return (
    <>
      <ol class="log" reversed start={events.length}>
        {shown.map((event) => (
          <LogItem key={event.sequence} event={event} />
        ))}
      </ol>
      {events.length > most && (
        <button type="button" onClick={() => setMost(most * 2)}>
          Show more
        </button>
      )}
    </>
  );
}

const FIRST_SHOWN = 100;

function LogItem({ event }: { readonly event: RunEvent }): VNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <details onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
        <summary>
          <span class="strong">
            <Text>{event.type}</Text>
          </span>{' '}
          {event.nodeId !== undefined && (
            <span class="node">
              <Text>{event.nodeId}</Text>
            </span>
          )}{' '}
          <span class="quiet">
            <Ago time={event.timestamp} />
          </span>
        </summary>
        {isOpen && <Payload value={event.payload} />}
      </details>
    </li>
  );
}

function Payload({ value }: { readonly value: RunEvent['payload'] }): VNode {
  const { text, cut } = shownJson(value);
  return (
    <>
      {/* A text that scrolls must be reachable by the keyboard. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
      <pre tabIndex={0}>{text}</pre>
      {cut > 0 && <p class="quiet">{cut.toLocaleString('en')} further characters are not shown.</p>}
    </>
  );
}
