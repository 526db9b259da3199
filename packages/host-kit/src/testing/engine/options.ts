import type { WorkflowEngine } from '../../ports/engine.ts';
import type { ContractWorkflows } from './contract-workflows.ts';
import type { EngineMeans } from './engine-means.ts';

/** Options of `engineContract`: a test runner, the engine, and its workflows. */
export interface EngineContractOptions {
  /** Registers a test, such as `test` of `node:test` or of vitest. */
  readonly test: (title: string, body: () => Promise<void>) => void;
  /** Assertions that throw on failure, such as `node:assert/strict`. */
  readonly assert: EngineAssertions;
  /** Makes the engine of one process. Called again after each simulated kill: an engine keeps nothing in memory. */
  readonly open: (means: EngineMeans) => WorkflowEngine | Promise<WorkflowEngine>;
  /** Frees what an engine holds, after its host has stopped or was killed. Default: nothing. */
  readonly close?: (engine: WorkflowEngine) => Promise<void>;
  /** The workflows of the engine that the contract runs. Those of a promise that the engine does not make are left out. */
  readonly workflows: ContractWorkflows;
  /**
   * The longest wait for the engine to do something, in ms of the real clock. A conforming engine is never waited for
   * that long. Default: 10 000.
   */
  readonly patienceMs?: number;
}

/** The assertion that the contract uses. */
export interface EngineAssertions {
  /** Throws unless the values are deeply and strictly equal. */
  deepEqual(actual: unknown, expected: unknown): void;
}
