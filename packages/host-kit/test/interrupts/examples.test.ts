import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type Execution, type RunOutcome, type WorkflowEngine } from '@svc/host-kit';
import { StepFailure, stepsEngine, type Workflow, workflow } from '@svc/host-kit/engine/steps';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';

const KEY = 'development-key-of-this-machine-only';
const scopes = ['runs:create', 'runs:read', 'approvals:respond'];

/** The printed examples that ask for an approval. The guides run theirs themselves. */
const README = codeBetween('README.md', 'const approved: WorkflowEngine', 'console.log(');
const OF_INTERRUPT = exampleAbove('src/ports/engine.ts', '  interrupt(request: InterruptRequest)');
const OF_ASK = exampleAbove('src/engine/steps/steps.ts', '  ask(name: string');
const OF_WORKFLOW = exampleAbove('src/engine/steps/workflow.ts', 'export function workflow');

const inputs = z.object({ draft: z.string() });

describe('a printed example of an approval asks, is answered, and comes to its end', () => {
  test.each<[string, string, () => Promise<WorkflowEngine>]>([
    [
      'the README',
      'gate',
      async () => {
        const { approved } = await run<{ approved: WorkflowEngine }>(`${README}\nreturn { approved };`, {
          publish: async () => 'https://example.com/post',
        });
        return approved;
      },
    ],
    [
      'Execution.interrupt',
      'gate',
      async () => ({
        execute: async (_run, { interrupt }: Pick<Execution, 'interrupt'>): Promise<RunOutcome> => {
          const outputs = await run<{ decision: string }>(`${OF_INTERRUPT}\nreturn { decision };`, { interrupt });
          return { status: 'completed', outputs };
        },
      }),
    ],
    [
      'Steps.ask',
      'review',
      async () => {
        const publish = workflow({
          id: 'publish',
          inputs,
          run: (_inputs, { ask }) => run<{ decision: string }>(`${OF_ASK}\nreturn { decision };`, { ask }),
        });
        return stepsEngine({ workflows: [publish] });
      },
    ],
    [
      'workflow',
      'review',
      async () => {
        const [upload, publishPage] = [async () => ({ url: 'https://example.com/page' }), async () => ({})];
        const names = { workflow, z, StepFailure, upload, publishPage };
        const { publish } = await run<{ publish: Workflow }>(`${OF_WORKFLOW}\nreturn { publish };`, names);
        return stepsEngine({ workflows: [publish] });
      },
    ],
  ])('%s', async (_, node, engineOf) => {
    const hash = hashApiKey(KEY);
    const host = createHost({
      store: memoryStore(),
      authenticate: [
        apiKeyLane({
          keys: memoryKeyStore([
            { id: 'key_1', hash, tenant: 'acme', workspaces: ['main'], principal: 'p_1', scopes, mode: 'live' },
          ]),
        }),
      ],
      engine: await engineOf(),
      secretKey: new Uint8Array(32),
      authorization: { hasWorkspace: () => true },
    });
    await host.start();
    const call = async (path: string, body?: object) => {
      const headers = {
        authorization: `Bearer ${KEY}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      };
      const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
      return (await host.fetch(new Request(`http://host.test/v1/runs${path}`, init))).json();
    };

    const { runId } = await call('', { workflowId: 'publish', inputs: { draft: 'a draft' } });
    const comesTo = (status: string) =>
      vi.waitFor(async () => expect(await call(`/${runId}`)).toMatchObject({ status }), 60_000);
    await comesTo('waiting-approval');
    const { events } = await call(`/${runId}/events/poll?timeout=1`);
    expect(events.at(-1).payload).toMatchObject({
      ...{ title: expect.stringContaining('Publish'), actions: ['accept', 'reject'] },
      ...{ artifactId: node, artifactType: 'question' },
    });
    expect(await call(`/${runId}/interrupts/${node}`, { resumeValue: { action: 'accept' } })).toMatchObject({ runId });
    await comesTo('completed');
    await host.stop();
  });
});

function source(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
}

function codeBetween(path: string, first: string, end: string): string {
  const text = source(path);
  const start = text.indexOf(first);
  return text.slice(start, text.indexOf(end, start));
}

/** Returns the code of the last `@example` above a declaration. */
function exampleAbove(path: string, declaration: string): string {
  const above = source(path).split(declaration, 1)[0] ?? '';
  const [, example = ''] = above.slice(above.lastIndexOf('@example')).split(/^.*@example\n/m);
  const lines = example.split('\n').map((line) => line.replace(/^ *\* ?/, ''));
  return lines.slice(0, lines.indexOf('/')).join('\n');
}

/** Runs a printed program with the names that it uses. */
async function run<Result>(code: string, names: Readonly<Record<string, unknown>>): Promise<Result> {
  const program = `export default async ({ ${Object.keys(names).join(', ')} }) => {\n${code}\n};`;
  const module = `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(program))}`;
  const { default: call }: { default: (given: object) => Promise<Result> } = await import(module);
  return call(names);
}
