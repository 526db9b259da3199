import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { AiOptions, ConfigurableSection, RunConfigurable } from '../ports/configurable.ts';
import type { Run } from '../ports/runs.ts';

/**
 * Returns the options of a run in the form of major 2. A member of the open map of major 1 that does not have the form
 * of major 2 is left out; the engine finds it in `run.configurable`.
 */
export function configurableOf({ configurable = {} }: Run, sections: readonly ConfigurableSection[]): RunConfigurable {
  const run = section(configurable.run);
  const ai = { ...pick(configurable, AI_KEYS_OF_MAJOR_1), ...section(configurable.ai) };
  const limits = pick({ ...pick(configurable, ['recursionLimit']), ...run }, Object.keys(LIMITS));
  const budget = section(configurable.budget);
  const distillation = pick(section(configurable.distillation), ['tokenBudget']);
  const extensions = Object.entries(section(configurable.extensions)).filter(([, value]) => isJsonObject(value));
  return {
    ...present('run', formed(limits, LIMITS)),
    ...(sections.includes('ai') && present('ai', formed(ai, AI))),
    ...(sections.includes('budget') && present('budget', budget)),
    ...(sections.includes('distillation') && present('distillation', formed(distillation, { tokenBudget: isCount }))),
    ...present('extensions', Object.fromEntries(extensions)),
  };
}

const AI_KEYS_OF_MAJOR_1 = ['model', 'temperature', 'maxTokens', 'promptOverrides'] as const;

type Form = Readonly<Record<string, (value: Json | undefined) => boolean>>;

const isText = (value: Json | undefined) => typeof value === 'string' && value !== '';
const isCount = (value: Json | undefined) => Number.isInteger(value) && Number(value) >= 0;
const isNumber = (value: Json | undefined) => typeof value === 'number';

const LIMITS: Form & Record<keyof NonNullable<RunConfigurable['run']>, (value: Json | undefined) => boolean> = {
  recursionLimit: isCount,
  runTimeoutMs: isCount,
  maxLoopIterations: isCount,
  escalationThreshold: isNumber,
};

const AI: Form & Record<keyof AiOptions, (value: Json | undefined) => boolean> = {
  provider: isText,
  model: isText,
  temperature: (value) => typeof value === 'number' && value >= 0 && value <= 2,
  maxTokens: isCount,
  credentialRef: isText,
  promptOverrides: isJsonObject,
  mockProvider: isText,
  reasoningVerbosity: (value) => value === 'none' || value === 'summary' || value === 'full',
  maxRefusals: isCount,
};

/** The caller of major 1 chooses the names, so only the form's own ones count. */
function formed(members: JsonObject, form: Form): JsonObject {
  const kept = Object.entries(members).filter(
    ([name, value]) => Object.hasOwn(form, name) && form[name]?.(value) === true,
  );
  return Object.fromEntries(kept);
}

function section(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function pick(members: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([name]) => names.includes(name)));
}

function present(name: string, members: JsonObject): JsonObject {
  return Object.keys(members).length === 0 ? {} : { [name]: members };
}
