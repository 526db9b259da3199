import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { own, session } from '../data/api.ts';
import { usePaged } from '../data/paged.ts';
import { linkTo } from '../data/route.ts';
import type { Assignment, Role } from '../data/shapes.ts';
import { ActionError, useAction } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { PagedTable } from '../parts/table.tsx';
import { Ago, Empty, Text } from '../parts/words.tsx';

/** The roles of the tenant, and the principals that have them. */
export function Roles({ filters }: { readonly filters: Readonly<Record<string, string>> }): VNode {
  if (session.value?.mounts.has('roles') !== true) {
    return (
      <Empty title="This host has no roles">
        <p>The scopes of a credential decide alone. A host with roles needs both.</p>
      </Empty>
    );
  }
  return <Stored principal={filters.principal ?? ''} role={filters.role ?? ''} />;
}

type Open = { readonly kind: 'assign' } | { readonly kind: 'withdraw'; readonly assignment: Assignment };

function Stored({ principal, role }: { readonly principal: string; readonly role: string }): VNode {
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const roles = usePaged<Role>('roles', async (after) => {
    const found = await own<{ roles: readonly Role[]; nextAfter?: string }>('GET', `/roles?${query({ after })}`);
    return { rows: found.roles, next: found.nextAfter };
  });
  const assignments = usePaged<Assignment>(`${principal}/${role}`, async (after) => {
    const path = `/assignments?${query({ after, principal, role })}`;
    const found = await own<{ assignments: readonly Assignment[]; nextAfter?: string }>('GET', path);
    return { rows: found.assignments, next: found.nextAfter };
  });
  const apply = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const given = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value).trim()] as const);
    location.hash = linkTo('roles', [], Object.fromEntries(given));
  };
  const close = () => setOpen(undefined);
  return (
    <>
      <section aria-labelledby="assignments">
        <div class="title">
          <h2 id="assignments">Assignments</h2>
          <button type="button" class="primary" onClick={() => setOpen({ kind: 'assign' })}>
            Assign a role …
          </button>
        </div>
        <search aria-label="Filter the assignments">
          <form class="filter-form" onSubmit={apply} key={`${principal}/${role}`}>
            <label>
              Principal
              <input name="principal" placeholder="p_7f3a" defaultValue={principal} spellcheck={false} />
            </label>
            <label>
              Role
              <input name="role" placeholder="operator" defaultValue={role} spellcheck={false} />
            </label>
            <button type="submit">Filter</button>
          </form>
        </search>
        <PagedTable
          label="Assignments"
          paged={assignments}
          keyOf={({ id }) => id}
          columns={[
            { name: 'Principal', cell: (row) => <Text>{row.principal}</Text> },
            { name: 'Role', cell: (row) => <Text>{row.role}</Text> },
            { name: 'Workspace', cell: (row) => <Text>{row.workspace}</Text> },
            { name: 'Since', cell: ({ createdAt }) => <Ago time={createdAt} /> },
            {
              name: 'Change',
              cell: (assignment) =>
                assignment.source === 'configuration' ? (
                  <span class="quiet">in the configuration</span>
                ) : (
                  <button type="button" onClick={() => setOpen({ kind: 'withdraw', assignment })}>
                    Withdraw …
                  </button>
                ),
            },
          ]}
          empty={<Empty title="No assignment matches" />}
        />
      </section>
      <section aria-labelledby="roles">
        <h2 id="roles">Roles of the tenant</h2>
        <PagedTable
          label="Roles of the tenant"
          paged={roles}
          keyOf={({ id }) => id}
          columns={[
            {
              name: 'Role',
              cell: ({ id }) => (
                <a class="strong" href={linkTo('roles', [], { role: id })}>
                  <Text>{id}</Text>
                </a>
              ),
            },
            { name: 'Scopes', cell: ({ scopes }) => <Text>{scopes.join(', ')}</Text> },
            {
              name: 'Defined',
              cell: ({ source }) => (source === 'configuration' ? 'in the configuration' : 'by the API'),
            },
          ]}
          empty={<Empty title="No role yet" />}
        />
      </section>
      {open?.kind === 'assign' && <AssignDialog roles={roles.rows} onClose={close} onDone={assignments.reload} />}
      {open?.kind === 'withdraw' && (
        <WithdrawDialog assignment={open.assignment} onClose={close} onDone={assignments.reload} />
      )}
    </>
  );
}

function query(given: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const set = Object.entries({ ...given, limit: '100' }).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value]],
  );
  return new URLSearchParams(set);
}

function AssignDialog(given: {
  readonly roles: readonly Role[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}): VNode {
  const { roles, onClose, onDone } = given;
  const action = useAction();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const data = new FormData(event.currentTarget);
    const text = (name: string) => String(data.get(name) ?? '').trim();
    void action.run(async () => {
      await own('POST', '/assignments', {
        principal: text('principal'),
        workspace: text('workspace'),
        role: text('role'),
      });
      onDone();
      onClose();
    });
  };
  return (
    <Dialog title="Assign a role" onClose={onClose}>
      <form class="fields" onSubmit={submit} autocomplete="off">
        <label for="principal">Principal, by its opaque id</label>
        <input id="principal" name="principal" required spellcheck={false} />
        <label for="workspace">Workspace</label>
        <input id="workspace" name="workspace" required spellcheck={false} />
        <label for="role">Role</label>
        <input id="role" name="role" required spellcheck={false} list="known-roles" />
        <datalist id="known-roles">
          {roles.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <p class="quiet">You give only what you have yourself in this workspace, and not to yourself.</p>
        <ActionError action={action} />
        <p class="actions">
          <button type="submit" class="primary" disabled={action.isBusy}>
            Assign
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  );
}

function WithdrawDialog(given: {
  readonly assignment: Assignment;
  readonly onClose: () => void;
  readonly onDone: () => void;
}): VNode {
  const { assignment, onClose, onDone } = given;
  const action = useAction();
  const submit = (event: Event) => {
    event.preventDefault();
    void action.run(async () => {
      await own('DELETE', `/assignments/${encodeURIComponent(assignment.id)}`);
      onDone();
      onClose();
    });
  };
  return (
    <Dialog title="Withdraw the role" onClose={onClose}>
      <form class="fields" onSubmit={submit}>
        <p>
          <strong>
            <Text>{assignment.principal}</Text>
          </strong>{' '}
          no longer has the role{' '}
          <strong>
            <Text>{assignment.role}</Text>
          </strong>{' '}
          in{' '}
          <strong>
            <Text>{assignment.workspace}</Text>
          </strong>
          . No request that begins after this has it, and streams that needed it end.
        </p>
        <ActionError action={action} />
        <p class="actions">
          <button type="submit" class="danger" disabled={action.isBusy}>
            Withdraw
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  );
}
