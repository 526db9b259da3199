import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const FOLDER = new URL('../.github/workflows/', import.meta.url);
const workflows = readdirSync(FOLDER).map((name) => ({ name, text: readFileSync(new URL(name, FOLDER), 'utf8') }));

/** Splits a workflow into the text before its jobs, and its jobs by name. */
function jobsOf(text: string): Map<string, string> {
  const [, jobs = ''] = text.split(/^jobs:\n/m);
  const parts = jobs.split(/^ {2}(?=\w)/m).filter((part) => part !== '' && !part.startsWith('#'));
  return new Map(parts.map((part) => [part.slice(0, part.indexOf(':')), part]));
}

describe.each(workflows)('the workflow $name', ({ text }) => {
  test('pins each action by its commit, and names the version', () => {
    const uses = text.match(/^\s*-? ?uses: .*$/gm) ?? [];
    for (const line of uses) expect(line).toMatch(/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('begins without permissions, and gives each job its own', () => {
    expect(text).toMatch(/^permissions: \{\}$/m);
    for (const [job, part] of jobsOf(text)) expect(part, job).toMatch(/^ {4}permissions:\n {6}\w/m);
  });

  test('gives each job a time limit', () => {
    for (const [job, part] of jobsOf(text)) expect(part, job).toMatch(/^ {4}timeout-minutes: \d+$/m);
  });

  test('leaves no credentials in a checkout', () => {
    for (const step of text.split(/\n\s*- /)) {
      if (step.startsWith('uses: actions/checkout@')) expect(step).toContain('persist-credentials: false');
    }
  });

  test('expands no expression in a shell command', () => {
    const commands = text.match(/^\s*- run: (?:\|\n(?:\s{10,}.*\n)+|.*$)/gm) ?? [];
    for (const command of commands) expect(command).not.toContain('${{');
  });
});

describe('the release', () => {
  const jobs = jobsOf(workflows.find(({ name }) => name === 'release.yml')?.text ?? '');

  test('tests and packs before it publishes, and publishes before it announces', () => {
    expect(jobs.get('pack')).toMatch(/\.ci\/run[\s\S]*release:pack/);
    expect(jobs.get('publish')).toContain('needs: pack');
    expect(jobs.get('announce')).toContain('needs: publish');
  });

  test('can prove who it is only in the job that publishes, which installs nothing', () => {
    const proving = [...jobs].filter(([, part]) => part.includes('id-token: write')).map(([name]) => name);
    expect(proving).toEqual(['publish']);
    expect(jobs.get('publish')).not.toMatch(/npm (?:ci|i|install|run)|\.ci\/run/);
  });

  test('uses no secret besides the token of its own run', () => {
    for (const [, part] of jobs) expect(part).not.toContain('secrets.');
  });
});
