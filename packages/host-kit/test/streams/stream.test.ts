import { covers } from '@svc/tools/covers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually, OTHER_TENANT, OTHER_WORKSPACE, type Serving, serve } from './serving.ts';

let serving: Serving;
let runId: string;

beforeEach(async () => {
  serving = await serve();
  runId = await serving.newRun();
});
afterEach(() => serving.close());

/** Where a major has the events of the run. */
const pathOf = { 1: () => `/v1/runs/${runId}/events`, 2: () => `/runs/acme~2F${runId}/events` } as const;
const V2 = { 'svc-version': '2' };

describe('a stream of events', () => {
  test('shows what is there, then what is appended, and ends with the run', async () => {
    await serving.append(runId, 'run.started', 'node.completed');
    const stream = await serving.open(pathOf[1]());
    await stream.count(2);
    await serving.append(runId, 'node.completed');
    await stream.count(3);
    await serving.append(runId, 'run.completed');
    expect(await stream.ended).toBe('ended');
    expect(stream.messages.map(({ id, event }) => [id, event])).toEqual([
      ['0', 'run.started'],
      ['1', 'node.completed'],
      ['2', 'node.completed'],
      ['3', 'run.completed'],
    ]);
    expect(stream.messages[0]?.data).toMatchObject({ runId, type: 'run.started', sequence: 0, engineVersion: 1 });
  });

  test('has the headers that keep it flowing, and names the contract', async () => {
    await serving.append(runId, 'run.started', 'run.completed');
    for (const major of [1, 2] as const) {
      const stream = await serving.open(pathOf[major](), { 'svc-version': String(major) });
      expect(stream.status).toBe(200);
      expect(stream.headers).toMatchObject({
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        'svc-version': major === 1 ? '1.1' : '2.0',
      });
      await stream.ended;
    }
  });
});
