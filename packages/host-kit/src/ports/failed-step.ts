/** Notes the step in which an engine met an error, for the log of the host. */
export function noteFailedStep(error: Error, step: string): void {
  steps.set(error, step);
}

/** Returns the step in which an engine met an error; undefined when it noted none. */
export function failedStepOf(error: unknown): string | undefined {
  return error instanceof Error ? steps.get(error) : undefined;
}

/** Beside the errors, because an application may have frozen its own. */
const steps = new WeakMap<Error, string>();
