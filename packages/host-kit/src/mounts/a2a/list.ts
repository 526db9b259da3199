import type { ListTasksRequest, ListTasksResponse, Task } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import type { Run } from '../../ports/runs.ts';
import type { A2aCall } from './call.ts';
import { currentTask, withHistory } from './get.ts';
import { conversationOf, STATE_OF } from './task.ts';

/**
 * Returns a page of the tasks of the caller, the newest first. The filters examine 5 000 runs for a page, so a page may
 * be short and still have a `nextPageToken`. `totalSize` is exact on the last page; before it, it counts the tasks up
 * to this page and one more.
 *
 * @throws {RequestMalformedError} when `pageSize`, `pageToken`, `historyLength` or `statusTimestampAfter` is not valid
 */
export async function listTasks(call: A2aCall, request: ListTasksRequest): Promise<ListTasksResponse> {
  const { contextId, status, includeArtifacts = false, historyLength } = request;
  const limit = pageSizeIn(request);
  const { before, counted } = positionIn(request);
  const after = timestampIn(request);
  const isFiltered = contextId !== '' || status !== 0;
  const matches = (run: Run) =>
    (contextId === '' || conversationOf(run).contextId === contextId) &&
    (status === 0 || STATE_OF[run.status] === status);
  const { runs, next } = await call.runs.list(call.caller, {
    ...{ before, limit, workflowId: undefined, status: undefined },
    ...(isFiltered && { also: matches }),
  });
  const found = await Promise.all(runs.map((run) => currentTask(call, run, { includeArtifacts })));
  const tasks = found
    .filter((task) => after === undefined || updatedAt(task) >= after)
    .map((task) => withHistory(task, historyLength));
  const total = counted + tasks.length;
  return {
    tasks,
    nextPageToken: next === undefined ? '' : `${next}:${total}`,
    pageSize: limit,
    totalSize: next === undefined ? total : total + 1,
  };
}

const DEFAULT_PAGE = 50;
const LARGEST_PAGE = 100;

function pageSizeIn({ pageSize = DEFAULT_PAGE }: ListTasksRequest): number {
  if (Number.isInteger(pageSize) && pageSize >= 1 && pageSize <= LARGEST_PAGE) return pageSize;
  throw new RequestMalformedError(`pageSize: must be a whole number from 1 to ${LARGEST_PAGE}.`);
}

/** A page token is the last run of the page and the number of tasks so far. */
function positionIn({ pageToken }: ListTasksRequest): {
  readonly before: string | undefined;
  readonly counted: number;
} {
  if (pageToken === '') return { before: undefined, counted: 0 };
  const [, before, counted] = /^([A-Za-z0-9._~-]{1,128}):([0-9]{1,9})$/.exec(pageToken) ?? [];
  if (before === undefined)
    throw new RequestMalformedError('pageToken: is not one of this agent. Send the nextPageToken of an earlier page.');
  return { before, counted: Number(counted) };
}

function timestampIn({ statusTimestampAfter }: ListTasksRequest): number | undefined {
  if (statusTimestampAfter === undefined || statusTimestampAfter === '') return undefined;
  if (TIME.safeParse(statusTimestampAfter).success) return Date.parse(statusTimestampAfter);
  throw new RequestMalformedError(
    'statusTimestampAfter: must be a time with its offset. Send one such as 2026-01-31T12:00:00Z.',
  );
}

/** Without an offset, hosts in different zones would read different times. */
const TIME = z.iso.datetime({ offset: true });

function updatedAt({ status }: Task): number {
  return Date.parse(status?.timestamp ?? '');
}
