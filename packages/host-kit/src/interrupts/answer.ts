import type { InterruptAnswer, Resolution } from '../ports/interrupts.ts';

/** Returns the part of a resolution that the engine gets. */
export function interruptAnswerOf({
  resumeValue,
  decision,
  isTimeout = false,
  isOverride = false,
}: Resolution): InterruptAnswer {
  return { resumeValue, isTimeout, isOverride, ...(decision !== undefined && { decision }) };
}
