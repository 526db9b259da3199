import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { own } from '../data/api.ts';
import { usePolled } from '../data/polled.ts';
import { linkTo } from '../data/route.ts';
import type { Counted, Job, Webhook } from '../data/shapes.ts';
import type { LetterFilter } from '../model/letter-filter.ts';
import { ActionError, useAction } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { counted, Failure, Text } from '../parts/words.tsx';
import { expectOf } from './jobs.tsx';

/** Says how many deliveries would be sent again and to whom, and starts the job when the user agrees. */
export function RedriveDialog(given: {
  readonly webhook: Pick<Webhook, 'webhookId' | 'url'>;
  readonly filter: LetterFilter;
  readonly onClose: () => void;
  readonly onStarted: () => void;
}): VNode {
  const { webhook, filter, onClose, onStarted } = given;
  const path = `/webhooks/${webhook.webhookId}/dead-letters/redrive-matching`;
  const { data, error, refresh } = usePolled(JSON.stringify([path, filter]), 0, () =>
    own<Counted>('POST', path, { ...filter, dryRun: true }),
  );
  const [rate, setRate] = useState(100);
  const action = useAction();
  const start = (event: Event) => {
    event.preventDefault();
    void action.run(async () => {
      const job = await own<Job>('POST', path, { ...filter, rate });
      expectOf.set(job.jobId, data?.matching ?? 0);
      onClose();
      onStarted();
      location.hash = linkTo('subscriptions', [webhook.webhookId]);
    });
  };
  return (
    <Dialog title="Redrive dead letters" onClose={onClose}>
      <form class="fields" onSubmit={start}>
        {error !== undefined && <Failure error={error} retry={() => void refresh()} />}
        {data === undefined && error === undefined && <p class="quiet">Counting …</p>}
        {data !== undefined && (
          <p>
            This sends{' '}
            <strong>
              {counted(data.matching, 'delivery', 'deliveries')}
              {data.isComplete ? '' : ' or more'}
            </strong>{' '}
            again to{' '}
            <strong class="break">
              <Text>{webhook.url}</Text>
            </strong>
            . Each keeps its id, so a receiver that deduplicates handles it once.
          </p>
        )}
        <label for="rate">Deliveries a second, at most</label>
        <input
          id="rate"
          type="number"
          min={1}
          max={10_000}
          required
          value={rate}
          onInput={(event) => setRate(event.currentTarget.valueAsNumber)}
        />
        <ActionError action={action} />
        <p class="actions">
          <button type="submit" class="primary" disabled={action.isBusy || data === undefined || data.matching === 0}>
            {data === undefined ? 'Redrive' : `Redrive ${counted(data.matching, 'delivery', 'deliveries')}`}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  );
}
