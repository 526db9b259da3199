import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { JsonObject } from '../../json.ts';
import { isTerminal, type Run } from '../../ports/runs.ts';
import { snapshotBody } from '../../wire/run.ts';
import type { MountCaller } from '../caller-runs.ts';
import type { MountServices } from '../mount.ts';

/** A server for one request of one caller: the operations on runs as tools. Ids are those of major 2, without the tenant. */
export function toolServer(
  { runs, implementation, refusalOf }: ToolServices,
  caller: MountCaller,
  gone: AbortSignal,
): McpServer {
  const server = new McpServer(implementation, {
    instructions: 'Workflows run here. create_run starts one and can wait for its end; read_run tells how it stands.',
  });

  server.registerTool(
    'create_run',
    {
      title: 'Create a run',
      description:
        'Starts a workflow. With waitSeconds the answer waits for the end of the run, or for a question of it.',
      inputSchema: z.strictObject({
        workflowId: z.string().min(1).max(128).describe('The workflow to run'),
        inputs: jsonObject.optional().describe('What the workflow asks for'),
        tags: z.array(z.string().max(256)).max(100).optional(),
        waitSeconds: z
          .int()
          .min(0)
          .max(MAX_WAIT_SECONDS)
          .optional()
          .describe('0 to 60; without it the answer is immediate'),
      }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    },
    ({ workflowId, inputs = {}, tags = [], waitSeconds = 0 }) =>
      answered(async () => {
        const run = await runs.create(caller, { ...NOTHING_ELSE, workflowId, inputs, tags, transport: 'mcp' });
        return described(waitSeconds === 0 ? run : await runs.settled(caller, run, waitSeconds * 1000, gone));
      }),
  );

  server.registerTool(
    'read_run',
    {
      title: 'Read a run',
      description: 'How a run stands: its status, and its outputs, its error or its question.',
      inputSchema: z.strictObject({ runId }),
      annotations: { readOnlyHint: true },
    },
    (given) => answered(async () => described(await runs.read(caller, given.runId))),
  );

  server.registerTool(
    'cancel_run',
    {
      title: 'Cancel a run',
      description: 'Asks a run to end. It ends as cancelled within seconds.',
      inputSchema: z.strictObject({ runId }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    },
    (given) => answered(async () => described(await runs.cancel(caller, given.runId))),
  );

  server.registerTool(
    'answer_run',
    {
      title: 'Answer the question of a run',
      description: 'Answers what a waiting run asks, for example an approval with {"action":"accept"}.',
      inputSchema: z.strictObject({ runId, answer: jsonObject.describe('The value that the run goes on with') }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    },
    (given) => answered(async () => described(await runs.respond(caller, given.runId, given.answer))),
  );

  return server;

  /** A refusal is a result that says so: the model that called reads it, and can do better. */
  async function answered(work: () => Promise<JsonObject>) {
    try {
      const result = await work();
      return { content: [{ type: 'text' as const, text: JSON.stringify(result) }], structuredContent: result };
    } catch (error) {
      const { code, message } = refusalOf(error);
      return { isError: true, content: [{ type: 'text' as const, text: `${code}: ${message}` }] };
    }
  }

  /** The snapshot, with what the newest event says of a run that has ended or asks. */
  async function described(run: Run): Promise<JsonObject> {
    const told = isTerminal(run.status) || run.status.startsWith('waiting-') ? await runs.last(run) : undefined;
    const payload = told?.payload;
    const outputs = told?.type === 'run.completed' && isObject(payload) ? payload.outputs : undefined;
    return {
      ...snapshotBody(2, run),
      runId: run.runId,
      ...(outputs !== undefined && { outputs }),
      ...(told?.type === 'interrupt.requested' && payload !== undefined && { question: payload }),
    };
  }
}

/** What a run can be asked for with over REST, and not here. */
const NOTHING_ELSE = { scope: undefined, configurable: undefined, metadata: undefined };
const MAX_WAIT_SECONDS = 60;
const runId = z
  .string()
  .regex(/^[A-Za-z0-9._~-]{1,128}$/, 'is not a run id')
  .describe('As create_run gave it');
const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), z.json());

type ToolServices = Pick<MountServices, 'runs' | 'implementation' | 'refusalOf'>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
