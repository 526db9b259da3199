import type { Major } from '@svc/versioning';
import type { CallerUse, VersionDay } from '../../ports/version-uses.ts';
import { integer, type Row, text } from './row.ts';

/** Gathers the rows of credentials and majors, of which those of one credential are neighbours. */
export function callersOf(rows: readonly Row[]): readonly CallerUse[] {
  const callers: CallerUse[] = [];
  for (const row of rows) {
    const lane = text(row, 'lane');
    const credential = text(row, 'credential');
    const use = { major: majorOf(row), requests: integer(row, 'requests'), lastAt: integer(row, 'last_at') };
    const last = callers.at(-1);
    if (last?.lane === lane && last.credential === credential) {
      callers[callers.length - 1] = { ...last, majors: [...last.majors, use] };
    } else callers.push({ lane, credential, majors: [use] });
  }
  return callers;
}

export function versionDayOf(row: Row): VersionDay {
  return { day: integer(row, 'day'), major: majorOf(row), requests: integer(row, 'requests') };
}

function majorOf(row: Row): Major {
  const major = integer(row, 'major');
  if (major === 1 || major === 2) return major;
  throw new Error('Column major: the stored value is unknown. A newer version of the kit may have written it.');
}
