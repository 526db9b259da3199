import { describe, expect, test } from 'vitest';

interface Check {
  commandProblems(files: readonly { path: string; text: string }[], owners: ReadonlyMap<string, string>): string[];
}

const { commandProblems }: Check = await import(new URL('./check-commands.mjs', import.meta.url).href);

const OWNERS = new Map([['svc-webhook', '@svc/webhook-verify']]);
const problemsOf = (text: string) => commandProblems([{ path: 'a.md', text }], OWNERS);

describe('a command of a page', () => {
  test.each([
    'npx -p @svc/webhook-verify svc-webhook --help',
    'SECRET=… npx -p @svc/webhook-verify@next svc-webhook verify request.http',
    'npx --yes --package=@svc/webhook-verify svc-webhook --help',
    'npm exec -p @svc/webhook-verify -- svc-webhook --help',
    'npm create @svc/host my-host',
    'npm i @svc/webhook-verify && npm run svc-webhook',
    'svc-webhook verify request.http',
    'npx next build',
  ])('passes when its package is ours: %s', (command) => {
    expect(problemsOf(`Run \`${command}\`.`)).toEqual([]);
  });

  test.each([
    'npx svc-webhook --help',
    '$ npx --yes svc-webhook',
    'bunx svc-webhook',
    'pnpm dlx svc-webhook',
    'npm exec -- svc-webhook',
    'npm create svc-host my-host',
    'npm i svc-webhook',
    'npx -p @svc/auth svc-webhook',
    'npx -p @svc/webhook-verify svc-other',
  ])('is rejected when others could own it: %s', (command) => {
    expect(problemsOf(`text\n\n  ${command}\n`)).toEqual([expect.stringMatching(/^a\.md:3 `/)]);
  });
});
