import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { own } from '../data/api.ts';
import { usePaged } from '../data/paged.ts';
import type { ApiKey } from '../data/shapes.ts';
import { ActionError, useAction } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import { PagedTable } from '../parts/table.tsx';
import { Ago, Badge, Code, Empty, Text } from '../parts/words.tsx';

type Open = { readonly kind: 'create' } | { readonly kind: 'rotate' | 'revoke'; readonly key: ApiKey };

/** The API keys within the reach of the caller. */
export function Keys(): VNode {
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const paged = usePaged<ApiKey>('keys', async (after) => {
    const query = new URLSearchParams({ limit: '100', ...(after !== undefined && { after }) });
    const found = await own<{ keys: readonly ApiKey[]; nextAfter?: string }>('GET', `/keys?${query}`);
    return { rows: found.keys, next: found.nextAfter };
  });
  const close = () => setOpen(undefined);
  return (
    <>
      <div class="title">
        <h1 tabIndex={-1}>API keys</h1>
        <button type="button" class="primary" onClick={() => setOpen({ kind: 'create' })}>
          Create a key …
        </button>
      </div>
      <PagedTable
        label="API keys"
        paged={paged}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Key',
            cell: ({ name, prefix, id }) => (
              <>
                <span class="strong">
                  <Text>{name}</Text>
                </span>
                <div class="quiet">
                  <Code>{prefix === undefined ? id : `${prefix}…`}</Code>
                </div>
              </>
            ),
          },
          { name: 'State', cell: ({ state }) => <Badge tone={state === 'active' ? 'good' : 'idle'}>{state}</Badge> },
          { name: 'Scopes', cell: ({ scopes }) => <Text>{scopes.join(', ')}</Text> },
          { name: 'Principal', cell: ({ principal }) => <Text>{principal}</Text> },
          { name: 'Last used', cell: ({ lastUsedAt }) => <Ago time={lastUsedAt} /> },
          { name: 'Expires', cell: ({ expiresAt, revokedAt }) => <Ago time={revokedAt ?? expiresAt} /> },
          { name: 'Change', cell: (key) => <KeyActions apiKey={key} setOpen={setOpen} /> },
        ]}
        empty={<Empty title="No key within your reach" />}
      />
      {open?.kind === 'create' && <CreateDialog onClose={close} onMade={paged.reload} />}
      {open?.kind === 'rotate' && <RotateKeyDialog apiKey={open.key} onClose={close} onMade={paged.reload} />}
      {open?.kind === 'revoke' && <RevokeDialog apiKey={open.key} onClose={close} onRevoked={paged.reload} />}
    </>
  );
}

function KeyActions({ apiKey, setOpen }: { readonly apiKey: ApiKey; readonly setOpen: (open: Open) => void }): VNode {
  if (apiKey.source === 'configuration') return <span class="quiet">in the configuration</span>;
  if (apiKey.state !== 'active') return <span class="quiet">–</span>;
  return (
    <span class="actions">
      <button type="button" onClick={() => setOpen({ kind: 'rotate', key: apiKey })}>
        Rotate …
      </button>
      <button type="button" onClick={() => setOpen({ kind: 'revoke', key: apiKey })}>
        Revoke …
      </button>
    </span>
  );
}

function CreateDialog({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: () => void }): VNode {
  const action = useAction();
  const [made, setMade] = useState<string | undefined>(undefined);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const data = new FormData(event.currentTarget);
    const scopes = String(data.get('scopes'))
      .split(/[\s,]+/)
      .filter((scope) => scope !== '');
    void action.run(async () => {
      const { key } = await own<{ key: string }>('POST', '/keys', { name: String(data.get('name')), scopes });
      setMade(key);
      onMade();
    });
  };
  return (
    <Dialog title="Create an API key" onClose={onClose}>
      {made !== undefined ? (
        <ShownOnce name="The key" secret={made} onClose={onClose} />
      ) : (
        <form class="fields" onSubmit={submit}>
          <label for="name">Name, for people</label>
          <input id="name" name="name" required maxLength={128} />
          <label for="scopes">Scopes, separated by commas</label>
          <input id="scopes" name="scopes" required placeholder="runs:read, webhooks:manage" spellcheck={false} />
          <p class="quiet">The key gets no authority that you lack. It belongs to you, and reaches your workspaces.</p>
          <ActionError action={action} />
          <p class="actions">
            <button type="submit" class="primary" disabled={action.isBusy}>
              Create
            </button>
            <button type="button" onClick={onClose}>
              Cancel
            </button>
          </p>
        </form>
      )}
    </Dialog>
  );
}

function RotateKeyDialog(given: {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
  readonly onMade: () => void;
}): VNode {
  const { apiKey, onClose, onMade } = given;
  const action = useAction();
  const [hours, setHours] = useState(24);
  const [made, setMade] = useState<string | undefined>(undefined);
  const submit = (event: Event) => {
    event.preventDefault();
    void action.run(async () => {
      const path = `/keys/${encodeURIComponent(apiKey.id)}/rotate`;
      const { key } = await own<{ key: string }>('POST', path, { graceSeconds: Math.round(hours * 3600) });
      setMade(key);
      onMade();
    });
  };
  return (
    <Dialog title="Rotate the key" onClose={onClose}>
      {made !== undefined ? (
        <ShownOnce name="The key" secret={made} onClose={onClose} />
      ) : (
        <form class="fields" onSubmit={submit}>
          <p>
            A new key takes the place of{' '}
            <strong>
              <Text>{apiKey.name}</Text>
            </strong>
            . The old one stays valid for a while, so that its users can change over.
          </p>
          <label for="hours">Hours for which the old key stays valid</label>
          <input
            id="hours"
            type="number"
            min={0}
            max={720}
            required
            value={hours}
            onInput={(event) => setHours(event.currentTarget.valueAsNumber)}
          />
          <ActionError action={action} />
          <p class="actions">
            <button type="submit" class="primary" disabled={action.isBusy}>
              Rotate
            </button>
            <button type="button" onClick={onClose}>
              Cancel
            </button>
          </p>
        </form>
      )}
    </Dialog>
  );
}

function RevokeDialog(given: {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
  readonly onRevoked: () => void;
}): VNode {
  const { apiKey, onClose, onRevoked } = given;
  const action = useAction();
  const submit = (event: Event) => {
    event.preventDefault();
    void action.run(async () => {
      await own('POST', `/keys/${encodeURIComponent(apiKey.id)}/revoke`);
      onRevoked();
      onClose();
    });
  };
  return (
    <Dialog title="Revoke the key" onClose={onClose}>
      <form class="fields" onSubmit={submit}>
        <p>
          No request with{' '}
          <strong>
            <Text>{apiKey.name}</Text>
          </strong>{' '}
          is accepted from now on, and its streams end. This cannot be undone. It was last used{' '}
          <Ago time={apiKey.lastUsedAt} />.
        </p>
        <ActionError action={action} />
        <p class="actions">
          <button type="submit" class="danger" disabled={action.isBusy}>
            Revoke
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  );
}
