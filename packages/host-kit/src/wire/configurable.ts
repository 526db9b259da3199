import { z } from 'zod';
import type { ConfigurableSection } from '../ports/configurable.ts';
import { jsonObject } from './schemas.ts';

const RUN = z.strictObject({
  recursionLimit: z.int().min(1).optional(),
  runTimeoutMs: z.int().min(1).optional(),
  maxLoopIterations: z.int().min(1).optional(),
  escalationThreshold: z.number().optional(),
});

const NAME = z.string().min(1).max(256);

const AI = z.strictObject({
  provider: NAME.optional(),
  model: NAME.optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxTokens: z.int().min(1).optional(),
  credentialRef: NAME.optional(),
  promptOverrides: jsonObject.optional(),
  mockProvider: NAME.optional(),
  reasoningVerbosity: z.enum(['none', 'summary', 'full']).optional(),
  maxRefusals: z.int().min(0).optional(),
});

const SECTIONS = {
  ai: AI,
  budget: jsonObject,
  distillation: z.strictObject({ tokenBudget: z.int().min(1).optional() }),
} as const;

/**
 * Returns the schema of `configurable` in major 2, which is closed and has a version.
 *
 * @param sections the sections that the engine understands; the others are rejected by their names
 */
export function configurableV2(sections: readonly ConfigurableSection[]): z.ZodType<object> {
  const served = Object.fromEntries(sections.map((name) => [name, SECTIONS[name].optional()]));
  return z.strictObject(
    {
      version: z.literal(1),
      run: RUN.optional(),
      ...served,
      extensions: z.record(z.string(), jsonObject).optional(),
    },
    { error: notServed },
  );
}

/** Tells a section that this host does not serve from one that does not exist. */
function notServed({ code, keys }: { readonly code?: string; readonly keys?: unknown }): string | undefined {
  if (code !== 'unrecognized_keys' || !Array.isArray(keys)) return undefined;
  const sections = keys.filter((key) => Object.hasOwn(SECTIONS, key));
  if (sections.length === 0) return undefined;
  return `the engine of this host does not understand ${sections.join(', ')}. Leave it out`;
}
