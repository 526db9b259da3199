import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { expect, test } from 'vitest';
import { temporaryTree } from '../temporary-tree.ts';

interface Step {
  name: string;
  command: string[];
  limitMinutes: number;
  again?: (files: string[]) => string[];
}
interface Result {
  name: string;
  verdict: string;
  passed: number;
  findings: string[];
}
interface Gate {
  runStages(
    stages: Step[][][],
    places: { out: string; temporary: string; say: (line: string) => void },
  ): Promise<Result[]>;
}

const { runStages }: Gate = await import(new URL('./gate.mjs', import.meta.url).href);

const PASSED = { passed: 2, failures: [] };
const FAILED = { passed: 1, failures: [{ file: 'a.test.ts', test: 'answers', message: 'expected 1 to be 2' }] };

/** A command that writes an outcome and ends. */
function told(outcome: unknown, before = ''): string[] {
  const text = `${before}; require('fs').writeFileSync(process.env.SVC_OUTCOME, ${JSON.stringify(JSON.stringify(outcome))});
    process.exit(${outcome === PASSED ? 0 : 1})`;
  return [execPath, '-e', text];
}

async function run(
  ...lanes: Omit<Step, 'limitMinutes'>[][]
): Promise<{ results: Result[]; out: string; said: string[] }> {
  const folder = temporaryTree();
  const [out, temporary] = [join(folder, 'out'), join(folder, 'temporary')];
  mkdirSync(out);
  const said: string[] = [];
  const steps = lanes.map((lane) => lane.map((step) => ({ limitMinutes: 1, ...step })));
  const results = await runStages([steps], { out, temporary, say: (line) => void said.push(line) });
  expect(readdirSync(temporary)).toEqual([]);
  return { results, out, said };
}

test('runs each step with its log and its outcome', async () => {
  const { results, out, said } = await run([{ name: 'one', command: told(PASSED, "console.log('hello')") }]);
  expect(results).toMatchObject([{ name: 'one', verdict: 'green', passed: 2, findings: [] }]);
  expect(readFileSync(join(out, 'one.log'), 'utf8')).toBe('hello\n');
  expect(said).toEqual([expect.stringMatching(/^green +one +\d+ s$/)]);
});

test('goes on after a failed step, and shows the end of its log', async () => {
  const { results } = await run([
    { name: 'one', command: [execPath, '-e', "console.error('no such thing'); process.exit(3)"] },
    { name: 'two', command: told(PASSED) },
  ]);
  expect(results).toMatchObject([
    { verdict: 'broken', findings: ['It ended with exit code 3.', 'no such thing'] },
    { verdict: 'green' },
  ]);
});

test('runs failed files once more, alone', async () => {
  const asked: string[][] = [];
  const again = (outcome: unknown) => (files: string[]) => {
    asked.push(files);
    return told(outcome);
  };
  const { results } = await run([
    { name: 'unsteady', command: told(FAILED), again: again(PASSED) },
    { name: 'broken', command: told(FAILED), again: again(FAILED) },
  ]);
  expect(results).toMatchObject([
    { verdict: 'green-flaky', passed: 2 },
    { verdict: 'broken', passed: 1 },
  ]);
  expect(asked).toEqual([['a.test.ts'], ['a.test.ts']]);
});

test('keeps the logs of the hosts of a failed file, and of no other', async () => {
  const log = (name: string) =>
    `require('fs').mkdirSync(process.env.SVC_HOST_LOGS, { recursive: true });
     require('fs').writeFileSync(require('path').join(process.env.SVC_HOST_LOGS, '${name}'), 'a line');`;
  const { results, out } = await run([
    { name: 'one', command: told(FAILED, log('a.test.ts.log') + log('b.test.ts.log')) },
  ]);
  expect(readdirSync(join(out, 'hosts/one'))).toEqual(['a.test.ts.log']);
  expect(results[0]?.findings[0]).toMatch(/\(its hosts: .*hosts\/one\/a\.test\.ts\.log\)$/);
});

test('finds a process and a folder that a step left behind, and removes them', async () => {
  const sleeper =
    "require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' }).unref()";
  const folder = "require('fs').mkdirSync(require('path').join(process.env.TMPDIR, 'svc-left'))";
  const { results } = await run([{ name: 'one', command: told(PASSED, `${sleeper}; ${folder}`) }]);
  expect(results[0]).toMatchObject({ verdict: 'broken' });
  const findings = results[0]?.findings.join('\n') ?? '';
  expect(findings).toContain('a temporary folder was left behind: svc-left');
  const pid = /a process was left running: (\d+)/.exec(findings)?.[1];
  expect(pid).toBeDefined();
  await expect.poll(() => existsSync(`/proc/${pid}/exe`)).toBe(false);
});

test('ends a step at its time limit, with all that it started', async () => {
  const command = [execPath, '-e', 'setInterval(() => {}, 1000)'];
  const { results } = await run([{ name: 'one', command, ...{ limitMinutes: 0.01 } }]);
  expect(results[0]).toMatchObject({ verdict: 'infrastructure' });
});

test('runs the lanes of a stage side by side', async () => {
  // Each waits for a file that the other one writes.
  const folder = temporaryTree();
  const meets = (own: string, other: string) => [
    execPath,
    '-e',
    `const fs = require('fs'); fs.writeFileSync('${join(folder, own)}', '');
     const timer = setInterval(() => { if (fs.existsSync('${join(folder, other)}')) clearInterval(timer); }, 10);`,
  ];
  const { results } = await run([{ name: 'a', command: meets('a', 'b') }], [{ name: 'b', command: meets('b', 'a') }]);
  expect(results.map(({ verdict }) => verdict)).toEqual(['green', 'green']);
});
