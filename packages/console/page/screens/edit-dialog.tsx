import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { own } from '../data/api.ts';
import { usePolled } from '../data/polled.ts';
import type { Webhook } from '../data/shapes.ts';
import { ActionError, useAction } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure, Text } from '../parts/words.tsx';

/** A button that opens the edit of a subscription. */
export function EditControl(webhook: Webhook, refresh: () => Promise<void>): VNode {
  return <EditButton key="edit" webhook={webhook} onEdited={() => void refresh()} />;
}

function EditButton(given: { readonly webhook: Webhook; readonly onEdited: () => void }): VNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Edit …
      </button>
      {isOpen && <EditDialog {...given} onClose={() => setOpen(false)} />}
    </>
  );
}

interface EventType {
  readonly type: string;
  readonly typeInMajor1: string;
}

/** Changes the description and the event types of a subscription. */
function EditDialog(given: {
  readonly webhook: Webhook;
  readonly onClose: () => void;
  readonly onEdited: () => void;
}): VNode {
  const { webhook, onClose, onEdited } = given;
  const { data, error, refresh } = usePolled('event-types', 0, () =>
    own<{ eventTypes: readonly EventType[] }>('GET', '/event-types'),
  );
  const [description, setDescription] = useState(webhook.description ?? '');
  const [events, setEvents] = useState<ReadonlySet<string>>(new Set(webhook.events));
  const action = useAction();
  const names = data?.eventTypes.map(({ type, typeInMajor1 }) => (webhook.major === 1 ? typeInMajor1 : type)) ?? [];
  const toggle = (name: string) => {
    const next = new Set(events);
    if (!next.delete(name)) next.add(name);
    setEvents(next);
  };
  const save = (event: Event) => {
    event.preventDefault();
    void action.run(async () => {
      const edit = { events: [...events], description: description === '' ? null : description };
      await own('PATCH', `/webhooks/${encodeURIComponent(webhook.webhookId)}`, edit);
      onClose();
      onEdited();
    });
  };
  return (
    <Dialog title="Edit the subscription" onClose={onClose}>
      <form class="fields" onSubmit={save}>
        <label for="description">Description</label>
        <input
          id="description"
          maxLength={512}
          value={description}
          onInput={(event) => setDescription(event.currentTarget.value)}
        />
        {error !== undefined && <Failure error={error} retry={() => void refresh()} />}
        <fieldset class="choices">
          <legend>Event types</legend>
          {[...new Set([...webhook.events, ...names])].map((name) => (
            <label key={name}>
              <input type="checkbox" checked={events.has(name)} onChange={() => toggle(name)} />
              <Text>{name}</Text>
            </label>
          ))}
        </fieldset>
        <ActionError action={action} />
        <p class="actions">
          <button type="submit" class="primary" disabled={action.isBusy || events.size === 0}>
            Save
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  );
}
