import { AGENT_EVENTS } from './agent-events.ts';
import { NODE_EVENTS } from './node-events.ts';
import { OPERATION_EVENTS } from './operation-events.ts';
import { QUESTION_EVENTS } from './question-events.ts';
import { RUN_EVENTS } from './run-events.ts';
import { STATE_EVENTS } from './state-events.ts';

/**
 * Every event type of the interface, by its name in major 2: the one place that says what it is called, what it means,
 * who records it, who sees it and what its payload contains. `npm run generate` writes the names from it into
 * `@svc/webhook-verify` and `@svc/versioning`, and the payloads into the published schemas.
 *
 * @see Interface: Events
 */
export const VOCABULARY = {
  ...RUN_EVENTS,
  ...NODE_EVENTS,
  ...QUESTION_EVENTS,
  ...STATE_EVENTS,
  ...AGENT_EVENTS,
  ...OPERATION_EVENTS,
} as const;
