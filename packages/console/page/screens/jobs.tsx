import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { may, own } from '../data/api.ts';
import { usePolled } from '../data/polled.ts';
import type { Counted, Job } from '../data/shapes.ts';
import { countDead } from '../data/webhooks.ts';
import { ActionError, useAction } from '../parts/action.tsx';
import { Ago, Badge, counted } from '../parts/words.tsx';

/** The number of deliveries that the dry run before a job counted, by the id of the job: the job itself has no total. */
export const expectOf = new Map<string, number>();

interface View {
  readonly jobs: readonly Job[];
  readonly waiting: number;
  readonly dead: Counted;
}

/** The jobs of a subscription with their progress, and the backlog that they drain. Nothing, when there is none. */
export function Jobs(given: {
  readonly webhookId: string;
  readonly turn: number;
  readonly onMoved: () => void;
}): VNode | null {
  const { webhookId, turn, onMoved } = given;
  const [isBusy, setBusy] = useState(true);
  const path = `/webhooks/${encodeURIComponent(webhookId)}`;
  const { data, refresh } = usePolled(`${path}${turn}`, isBusy ? BUSY_MS : IDLE_MS, () => readView(path));
  const running = data?.jobs.filter(({ state }) => state === 'running' || state === 'paused') ?? [];
  const isDraining = running.length > 0 || (data?.waiting ?? 0) > 0;
  useEffect(() => {
    if (data === undefined || isDraining === isBusy) return;
    setBusy(isDraining);
    onMoved();
  }, [data, isDraining, isBusy, onMoved]);
  const [newest] = data?.jobs ?? [];
  if (data === undefined || newest === undefined) return null;
  const shown = running.length > 0 ? running : [newest];
  return (
    <section class="card jobs" aria-labelledby="jobs">
      <h2 id="jobs">Jobs</h2>
      {shown.map((job) => (
        <JobItem key={job.jobId} job={job} path={path} onMoved={refresh} />
      ))}
      <p class="backlog" role="status">
        {backlogText(data)}
      </p>
    </section>
  );
}

const BUSY_MS = 1000;
const IDLE_MS = 15_000;
const MOST_WAITING = 200;

async function readView(path: string): Promise<View> {
  const { jobs } = await own<{ jobs: readonly Job[] }>('GET', `${path}/jobs?limit=5`);
  if (jobs.length === 0) return { jobs, waiting: 0, dead: { matching: 0, lookedAt: 0, isComplete: true } };
  const [{ deliveries }, dead] = await Promise.all([
    own<{ deliveries: readonly unknown[] }>('GET', `${path}/deliveries?state=waiting&limit=${MOST_WAITING}`),
    countDead(path),
  ]);
  return { jobs, waiting: deliveries.length, dead };
}

function backlogText({ waiting, dead }: View): string {
  const many =
    waiting >= MOST_WAITING
      ? `${MOST_WAITING} or more deliveries wait`
      : `${counted(waiting, 'delivery waits', 'deliveries wait')}`;
  const left = `${counted(dead.matching, 'dead letter is', 'dead letters are')} left.`;
  return waiting === 0 && dead.matching === 0
    ? 'The backlog is drained: nothing waits, and no dead letter is left.'
    : `${many} for an attempt. ${left}`;
}

function JobItem({
  job,
  path,
  onMoved,
}: {
  readonly job: Job;
  readonly path: string;
  readonly onMoved: () => Promise<void>;
}): VNode {
  const action = useAction();
  const move = (signal: 'pause' | 'resume' | 'cancel') =>
    void action.run(() => own('POST', `${path}/jobs/${encodeURIComponent(job.jobId)}/${signal}`).then(onMoved));
  const expected = expectOf.get(job.jobId) ?? 0;
  const hasEnded = job.state !== 'running' && job.state !== 'paused';
  const most = Math.max(expected, job.queued, 1);
  const label = `${job.queued.toLocaleString('en')}${expected === 0 || hasEnded ? '' : ` of ${most.toLocaleString('en')}`} queued`;
  return (
    <div class="job">
      <div class="title">
        <p>
          <strong>{NAMES[job.kind]}</strong>, begun <Ago time={job.createdAt} />, at most{' '}
          {job.rate.toLocaleString('en')} a second
        </p>
        <Badge tone={job.state === 'completed' ? 'good' : job.state === 'failed' ? 'bad' : 'idle'}>{job.state}</Badge>
      </div>
      <progress max={most} value={hasEnded ? most : job.queued} aria-label={label} />
      <p class="actions">
        <span>{label}</span>
        {job.state === 'running' && may('redrive') && (
          <button type="button" onClick={() => move('pause')}>
            Pause the job
          </button>
        )}
        {job.state === 'paused' && may('redrive') && (
          <button type="button" onClick={() => move('resume')}>
            Resume the job
          </button>
        )}
        {!hasEnded && may('redrive') && (
          <button type="button" onClick={() => move('cancel')}>
            Cancel the job
          </button>
        )}
      </p>
      <ActionError action={action} />
    </div>
  );
}

const NAMES = {
  redrive: 'Redrive of dead letters',
  replay: 'Replay of events',
  transfer: 'Transfer of dead letters',
} as const;
