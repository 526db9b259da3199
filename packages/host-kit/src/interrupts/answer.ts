import type { InterruptAnswer, Resolution } from '../ports/interrupts.ts';

/** Returns the part of a resolution that the engine gets. */
export function interruptAnswerOf({ resumeValue, decision, isTimeout = false }: Resolution): InterruptAnswer {
  return { resumeValue, isTimeout, ...(decision !== undefined && { decision }) };
}
