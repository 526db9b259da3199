import { z } from 'zod';
import { partsOfCursor, textOfCursor } from './cursor.ts';
import { snapshot } from './run.ts';

/** The schema of a page of runs. */
export const runPage: z.ZodType = z
  .strictObject({ runs: z.array(snapshot[2]), nextCursor: z.string().optional() })
  .meta({ id: 'RunPage' });

/** The scope of a cursor: it is valid for one tenant and mode. */
export interface CursorScope {
  readonly tenant: string;
  readonly mode: string;
}

/** The opaque cursor of the next page. */
export function runCursorText({ tenant, mode }: CursorScope, runId: string): string {
  return textOfCursor([tenant, mode, runId]);
}

/** Reads the run id of a cursor. Undefined unless `runCursorText` made it for this scope. */
export function parseRunCursor(text: string, scope: CursorScope): string | undefined {
  const [, , runId] = partsOfCursor(text);
  return typeof runId === 'string' && runCursorText(scope, runId) === text ? runId : undefined;
}
