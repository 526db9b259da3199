import type { OpenedSecret } from '../../ports/opened-secrets.ts';
import { bytes, integer, type Row, text } from './row.ts';

export function openedSecretOf(row: Row): OpenedSecret {
  return {
    runId: text(row, 'run_id'),
    number: integer(row, 'number'),
    name: text(row, 'name'),
    sealed: bytes(row, 'sealed'),
  };
}
