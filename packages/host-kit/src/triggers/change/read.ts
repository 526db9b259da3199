import type { ChangeTable } from '../../ports/changes.ts';
import { sleep } from '../../ports/clock.ts';
import { describeError } from '../../ports/log.ts';
import type { TriggerOf } from '../../ports/triggers.ts';
import { retryDelay } from '../../webhooks/retry.ts';
import type { HeldPlace } from '../reading/held-place.ts';
import { NoRoom, taker } from '../reading/take.ts';
import type { StartOptions } from '../start.ts';
import { DEFAULT_POLL_MS } from './grants.ts';
import { changeMessage } from './message.ts';

export interface ReadChangesOptions extends StartOptions {
  /** By their names. */
  readonly tables: Readonly<Record<string, ChangeTable>>;
  /** The largest row, in bytes of JSON. */
  readonly maxBytes: number;
}

type ChangeTrigger = TriggerOf<'change'>;

/** Reads the rows of a table, and looks again, until the signal aborts or the trigger is active no more. Never rejects. */
export async function readChanges(
  options: ReadChangesOptions,
  { triggerId, change }: ChangeTrigger,
  place: HeldPlace,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, random, tables } = options;
  const table = tables[change.table];
  if (table === undefined) return;
  const take = taker(options, 'change', triggerId, place);
  while (!signal.aborted) {
    let pauseMs = table.pollMs ?? DEFAULT_POLL_MS;
    try {
      const found = await readPage(options, table, change, place, take, signal);
      if (found === 'inactive') return;
      if (found === 'more') continue;
    } catch (error) {
      if (signal.aborted) return;
      const failures = place.reading.failures + 1;
      const problem = error instanceof NoRoom ? error.message : PROBLEM;
      log({ level: 'warn', event: 'trigger.change-failed', triggerId, failures, ...describeError(error) });
      await place.report({ state: 'waiting', failures, problem }).catch(() => {});
      pauseMs = retryDelay(BACKOFF, failures, undefined, random);
    }
    await sleep(clock, pauseMs, signal).catch(() => {});
  }
}

// The cause may name tables and addresses of the operator. It is in the log.
const PROBLEM = 'change: the table could not be read, or a message not be stored. The log of the host has the reason';
const BACKOFF = { maxAttempts: 1, backoff: 'exponential', delayMs: 1000, maxDelayMs: 60_000 } as const;

/** Reads up to `PAGE` rows, one after the other, so that runs start in the order of the cursor. */
async function readPage(
  { clock, maxBytes }: ReadChangesOptions,
  { source }: ChangeTable,
  { table, from }: ChangeTrigger['change'],
  place: HeldPlace,
  take: ReturnType<typeof taker>,
  signal: AbortSignal,
): Promise<'inactive' | 'more' | 'end'> {
  const upTo = await source.settled({ clock });
  if (upTo === undefined || signal.aborted) return 'end';
  if (place.reading.state !== 'reading' || place.reading.failures > 0 || place.cursor === '') {
    const begins = place.cursor === '' ? (from === 'now' ? upTo : EMPTY) : place.cursor;
    await place.report({ state: 'reading', failures: 0 }, begins);
  }
  const after = place.cursor === EMPTY ? undefined : place.cursor;
  const rows = await source.read({ after, upTo, limit: PAGE, maxBytes });
  for (const row of rows) {
    if (signal.aborted || !(await take(changeMessage(table, row, maxBytes)))) return 'inactive';
  }
  return rows.length < PAGE ? 'end' : 'more';
}

/** The place before the first row. */
const EMPTY = '[]';
const PAGE = 50;
