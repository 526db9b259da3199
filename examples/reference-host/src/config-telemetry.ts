import { z } from 'zod';

const incomingTraces = z
  .enum(['continue', 'link'])
  .default('continue')
  .describe('Trace context of callers. continue: the trace goes on. link: the host begins its own and links to it.');

/** The key of the configuration for traces. */
export const telemetry = z.strictObject({ incomingTraces });
