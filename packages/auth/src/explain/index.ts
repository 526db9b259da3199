export type { ExplainProgram } from './command.ts';
export { explainCommand } from './command.ts';
export type { ExplainedStep, ExplainOptions, Explanation } from './explain.ts';
export { explainRequest } from './explain.ts';
export type { ExplainTerminal } from './terminal.ts';
export { ExplainUsageError } from './terminal.ts';
