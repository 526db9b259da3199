import type { ByokPlace, ByokSecret } from '../../ports/byok.ts';
import { bytes, integer, type Row, text } from './row.ts';

/**
 * Value of the `workspace` column for the whole tenant. No workspace has this name, and a primary key takes no null.
 */
const WHOLE_TENANT = '';

export function workspaceColumn({ workspace }: ByokPlace): string {
  return workspace ?? WHOLE_TENANT;
}

export function byokSecretOf(row: Row): ByokSecret {
  const workspace = text(row, 'workspace');
  return {
    tenant: text(row, 'tenant'),
    ...(workspace !== WHOLE_TENANT && { workspace }),
    mode: text(row, 'mode') === 'live' ? 'live' : 'test',
    name: text(row, 'name'),
    sealed: bytes(row, 'sealed'),
    createdAt: integer(row, 'created_at'),
    updatedAt: integer(row, 'updated_at'),
  };
}
