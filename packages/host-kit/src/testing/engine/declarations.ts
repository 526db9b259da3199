import type { JsonObject } from '../../json.ts';
import type { EngineRefusal, WorkflowEngine } from '../../ports/engine.ts';
import { type EngineContract, onProcess } from './contract.ts';
import type { ContractWorkflows } from './contract-workflows.ts';

/** Tests of the members that an engine declares, of `accepts` and of `describe`. */
export function declarationsContract({ onHost, assert, workflows }: EngineContract): void {
  onHost('declares versions, forks and questions in their form, and has a workflow here for each', (world) =>
    onProcess(world, async ({ watched: { engine } }) => {
      assert.deepEqual(problemsOf(engine, workflows), []);
    }),
  );

  onHost('refuses an unknown workflow, and throws for no inputs', (world) =>
    onProcess(world, async ({ watched: { engine } }) => {
      const answer = answerOf(engine, 'workflow-that-never-was', {});
      assert.deepEqual(typeof answer === 'object' ? answer.field : answer || 'workflowId', 'workflowId');
      const { nodes, echo, failure } = workflows;
      const known = [nodes, failure, { workflowId: echo.workflowId, inputs: echo.inputs({ text: 'x' }) }];
      for (const { workflowId, inputs } of known) assert.deepEqual(answerOf(engine, workflowId, inputs), true);
      for (const workflowId of [...known.map((each) => each.workflowId), '', '__proto__', 'x'.repeat(10_000)]) {
        for (const inputs of HOSTILE) assert.deepEqual(formOf(engine, workflowId, inputs), 'in form');
      }
    }),
  );

  onHost('describes its workflows alone', (world) =>
    onProcess(world, async ({ watched: { engine } }) => {
      if (engine.describe === undefined) return;
      assert.deepEqual(engine.describe('workflow-that-never-was'), undefined);
      for (const name of ['constructor', '__proto__', 'toString']) assert.deepEqual(engine.describe(name), undefined);
      const { workflowId } = workflows.nodes;
      assert.deepEqual(engine.describe(workflowId)?.workflowId, workflowId);
    }),
  );
}

/** Returns one sentence for each member of an engine that breaks its form, or has no workflow in the contract. */
function problemsOf(engine: WorkflowEngine, workflows: ContractWorkflows): string[] {
  const { version, otherVersions = [], forks = [], interrupts = [], events } = engine;
  const isVersion = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
  const unproven = interrupts.filter((kind) => workflows.questions[kind] === undefined);
  const undeclared = Object.keys(workflows.questions).filter(
    (kind) => engine.interrupts !== undefined && !interrupts.some((each) => each === kind),
  );
  return [
    ...(isVersion(version) ? [] : ['version: must be a whole number of at least 0.']),
    ...(otherVersions.every((other) => isVersion(other) && other !== version)
      ? []
      : ['otherVersions: must be whole numbers besides version.']),
    ...(forks.every((mode) => mode === 'replay' || mode === 'branch') && new Set(forks).size === forks.length
      ? []
      : ['forks: must name replay and branch, each once.']),
    ...unproven.map((kind) => `interrupts: declares ${kind}. Name its workflow in workflows.questions.`),
    ...undeclared.map((kind) => `workflows.questions: has ${kind}. Declare it in interrupts of the engine.`),
    ...(events?.includes('artifact.created') && workflows.artifact === 'none'
      ? ['events: declares artifact.created. Name its workflow in workflows.artifact.']
      : []),
  ];
}

function answerOf(engine: WorkflowEngine, workflowId: string, inputs: JsonObject): boolean | EngineRefusal {
  return engine.accepts === undefined || engine.accepts(workflowId, inputs);
}

function formOf(engine: WorkflowEngine, workflowId: string, inputs: JsonObject): string {
  try {
    const answer = answerOf(engine, workflowId, inputs);
    if (typeof answer === 'boolean' || (isText(answer.field) && isText(answer.problem))) return 'in form';
    return `accepts: returned ${JSON.stringify(answer)}. Return true, false, or { field, problem }.`;
  } catch (error) {
    return `accepts: threw ${String(error)}. Return a refusal instead.`;
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function nested(depth: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 0; level < depth; level++) value = { value };
  return value;
}

const HOSTILE: readonly JsonObject[] = [
  {},
  { ms: null, value: null, nodes: null, question: null, content: null },
  { ms: -1, value: [], nodes: 1e300, inputs: { '': '' }, timeoutMs: 'x' },
  JSON.parse('{"__proto__":{"ms":1},"constructor":{"prototype":[]}}'),
  { text: 'x'.repeat(100_000) },
  nested(500),
];
