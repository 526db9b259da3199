export { ChildFailure } from './child-failure.ts';
export type { ChildWorkflow } from './child-workflow.ts';
export type { InferInput, InferOutput, Schema, SchemaIssue, Validated } from './schema.ts';
export { StepFailure, type StepFailureOptions } from './step-failure.ts';
export type {
  AwaitedEvent,
  ChildOptions,
  Compensable,
  RetryPolicy,
  StepContext,
  StepOptions,
  Steps,
  StepsQuestion,
} from './steps.ts';
export { type StepsEngineOptions, stepsEngine } from './steps-engine.ts';
export type { Stored } from './stored.ts';
export { type Workflow, type WorkflowDefinition, workflow } from './workflow.ts';
