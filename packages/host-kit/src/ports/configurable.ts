import type { JsonObject } from '../json.ts';

/** A section of `configurable` that only some engines understand. */
export type ConfigurableSection = 'ai' | 'budget' | 'distillation';

/**
 * The options of a run, in the form of major 2. The reserved keys of the open map of major 1 (`recursionLimit`, `model`,
 * `temperature`, `maxTokens`, `promptOverrides`) are in their sections.
 */
export interface RunConfigurable {
  /** Limits of the caller. The kit enforces them, except `escalationThreshold`, whose meaning is the engine's. */
  readonly run?: {
    readonly recursionLimit?: number;
    readonly runTimeoutMs?: number;
    readonly maxLoopIterations?: number;
    readonly escalationThreshold?: number;
  };
  /** Options of AI nodes. Present only if the engine declares the section. */
  readonly ai?: AiOptions;
  /** The budget of the run, in the engine's own form. Present only if the engine declares the section. */
  readonly budget?: JsonObject;
  /** Options of the distillation of memory. Present only if the engine declares the section. */
  readonly distillation?: { readonly tokenBudget?: number };
  /** Options of vendors, by their organization. */
  readonly extensions?: Readonly<Record<string, JsonObject>>;
}

/** The options of AI nodes that a caller chooses. */
export interface AiOptions {
  /** The provider of the model, in the engine's own words. */
  readonly provider?: string;
  /** The name of the model. */
  readonly model?: string;
  /** From 0 to 2. */
  readonly temperature?: number;
  /** The most tokens of one answer. */
  readonly maxTokens?: number;
  /** The name of a secret of the tenant, for `execution.secret`. */
  readonly credentialRef?: string;
  /** Prompts that replace those of the workflow, in the engine's own form. */
  readonly promptOverrides?: JsonObject;
  /** The name of a simulated provider. Only runs in test mode have it. */
  readonly mockProvider?: string;
  /** How much of the model's reasoning the run records. */
  readonly reasoningVerbosity?: 'none' | 'summary' | 'full';
  /** The most refusals of a model before the run fails. */
  readonly maxRefusals?: number;
}
