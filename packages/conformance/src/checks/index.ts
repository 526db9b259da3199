import type { RunnableCheck } from '../check.ts';
import { annotations } from './annotations.ts';
import { answers } from './answers.ts';
import { artifacts } from './artifacts.ts';
import { audit } from './audit.ts';
import { authentication } from './authentication.ts';
import { authorization } from './authorization.ts';
import { bestEffort } from './best-effort.ts';
import { clarifications } from './clarifications.ts';
import { crossing } from './crossing.ts';
import { deadLetters } from './dead-letters.ts';
import { debugBundles } from './debug-bundle.ts';
import { deliveries } from './deliveries.ts';
import { deliveryAttempts } from './delivery-attempts.ts';
import { discovery } from './discovery.ts';
import { durable } from './durable.ts';
import { effects } from './effects.ts';
import { errors } from './errors.ts';
import { events } from './events/index.ts';
import { externalEvents } from './external-events.ts';
import { idempotency } from './idempotency.ts';
import { interrupts } from './interrupts.ts';
import { openapi } from './openapi.ts';
import { rotation } from './rotation.ts';
import { runs } from './runs/index.ts';
import { triggers } from './triggers.ts';
import { versions } from './versions.ts';
import { webhooks } from './webhooks.ts';
import { workspaceFiles } from './workspace-files.ts';

/** Every check, with the function that runs it. */
export const CHECKS: readonly RunnableCheck[] = [
  ...discovery,
  ...openapi,
  ...versions,
  ...crossing,
  ...authentication,
  ...authorization,
  ...errors,
  ...runs,
  ...events,
  ...interrupts,
  ...clarifications,
  ...externalEvents,
  ...annotations,
  ...artifacts,
  ...effects,
  ...idempotency,
  ...webhooks,
  ...deliveries,
  ...deliveryAttempts,
  ...bestEffort,
  ...durable,
  ...deadLetters,
  ...rotation,
  ...triggers,
  ...audit,
  ...workspaceFiles,
  ...debugBundles,
  ...answers,
];
