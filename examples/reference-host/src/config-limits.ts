import { z } from 'zod';

const maxRequestBodyBytes = z
  .int()
  .min(1024)
  .max(268_435_456)
  .default(1_048_576)
  .describe('Largest request body, in bytes. A larger one is answered 413.');

const maxNodeExecutions = z
  .int()
  .min(1)
  .default(1000)
  .describe('Most node executions of a run. A run that starts more fails.');

const maxRunDurationMs = z
  .int()
  .min(1000)
  .max(2_592_000_000)
  .default(600_000)
  .describe('Longest duration of a run, without waits and pauses, in ms. A run that takes longer fails.');

const clarificationRounds = z
  .int()
  .min(1)
  .default(5)
  .describe('Most clarifications that one node of a run asks. A run whose node asks more fails.');

/** The key of the configuration for the limits of requests and runs. */
export const limits = z.strictObject({ maxRequestBodyBytes, maxNodeExecutions, maxRunDurationMs, clarificationRounds });
