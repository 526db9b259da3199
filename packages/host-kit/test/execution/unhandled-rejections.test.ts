import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('./forgetful-workflows.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'svc-forgetful-'));

interface End {
  readonly status: string;
  readonly code?: string;
  readonly logged: readonly string[];
}

let ends: Record<string, End>;
let exit: { readonly code: number; readonly errors: string };

beforeAll(async () => {
  const options = ['--conditions=@svc/source', SCRIPT, join(folder, 'svc.db')];
  const host = spawn(execPath, options, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [printed, errors, [code]] = await Promise.all([text(host.stdout), text(host.stderr), once(host, 'exit')]);
  exit = { code, errors };
  if (printed === '') throw new Error(errors);
  ends = JSON.parse(printed);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a workflow that awaits a failed step', () => {
  test('late, after another step, fails as if it had awaited it at once', () => {
    expect(ends['step awaited late']).toEqual({
      ...{ status: 'failed', code: 'internal_error' },
      logged: ['warn run.error-not-awaited: The step failed.', 'error run.engine-failed: the printer is on fire'],
    });
  });

  test('late, and catches its error, completes', () => {
    expect(ends['step awaited late and caught']).toMatchObject({ status: 'completed' });
  });

  test('never, fails with the code of the step', () => {
    expect(ends['step that nothing awaits']).toEqual({
      ...{ status: 'failed', code: 'no_paper' },
      logged: ['warn run.error-not-awaited: The printer has no paper.'],
    });
  });
});

describe('a workflow that does not await', () => {
  test('an async function of its own, fails with the error of that function', () => {
    expect(ends['function that nothing awaits']).toEqual({
      ...{ status: 'failed', code: 'internal_error' },
      logged: ['warn run.error-not-awaited: the paper is on fire', 'error run.engine-failed: the paper is on fire'],
    });
  });

  test('an error that comes after its end, completes, and the error is logged with the run', () => {
    expect(ends['error after the end']).toEqual({
      status: 'completed',
      logged: ['warn run.error-not-awaited: too late'],
    });
  });

  test('a question, fails: an approval is not skipped in silence', () => {
    expect(ends['question that nothing awaits']).toEqual({
      ...{ status: 'failed', code: 'internal_error' },
      logged: [
        'error run.engine-failed: ask review: the workflow ended without awaiting it. Write `await` before `ask`.',
      ],
    });
  });

  test('a sleep, fails', () => {
    expect(ends['sleep that nothing awaits']).toMatchObject({ status: 'failed', code: 'internal_error' });
  });

  test('the branch that lost a race, completes', () => {
    expect(ends['branch that lost a race']).toEqual({ status: 'completed', logged: [] });
  });
});

describe('an engine', () => {
  test('that does not await an event that is refused, fails its run', () => {
    expect(ends['append that nothing awaits']).toMatchObject({ status: 'failed', code: 'internal_error' });
    expect(ends['append that nothing awaits']?.logged).toContainEqual(
      expect.stringMatching(/^error run.engine-failed: node.started: payload.typeId /),
    );
  });

  test('that is told to leave a run may leave branches behind', () => {
    expect(ends['branch of a run that waits']).toEqual({ status: 'waiting-approval', logged: [] });
  });

  test('that throws before its first promise fails its run', () => {
    expect(ends['throw before the first promise']).toEqual({
      ...{ status: 'failed', code: 'internal_error' },
      logged: ['error run.engine-failed: thrown before the first promise'],
    });
  });
});

test('a rejection of the application still ends the process', () => {
  expect(exit.code).toBe(1);
  expect(exit.errors).toContain('of the application');
  expect(exit.errors).not.toContain('on fire');
});
