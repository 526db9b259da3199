import type { Log } from '@svc/host-kit';
import type { ChangeSource, ChangeTable } from '@svc/host-kit/ports';
import type { Config } from './config.ts';

type Changes = NonNullable<Config['triggers']>['changes'];

/** Makes the sources of tables. Each loads its driver alone, and connects when a trigger needs it. */
export async function configuredChanges(changes: Changes, log: Log): Promise<Readonly<Record<string, ChangeTable>>> {
  const made: [string, ChangeTable][] = [];
  for (const [name, table] of Object.entries(changes)) {
    const { grants, pollMs } = table;
    made.push([name, { source: await sourceOf(name, table, log), grants, pollMs }]);
  }
  return Object.fromEntries(made);
}

async function sourceOf(name: string, configured: Changes[string], log: Log): Promise<ChangeSource> {
  const { table, cursor, key, columns, settleMs } = configured;
  const rows = { table, cursor, ...(key !== undefined && { key }), columns, settleMs };
  if (configured.database === 'sqlite') {
    const { sqliteChanges } = await import('@svc/host-kit/changes/sqlite');
    return sqliteChanges({ file: configured.file, ...rows });
  }
  const { postgresChanges } = await import('@svc/host-kit/changes/postgres');
  const { url, schema, connections } = configured;
  const onError = (cause: unknown) => {
    const error = cause instanceof Error ? cause.message : typeof cause;
    log({ level: 'warn', event: 'changes.connection-failed', table: name, error });
  };
  return postgresChanges({ url, schema, connections, ...rows, onError });
}
