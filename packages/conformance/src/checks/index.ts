import type { Check } from '../check.ts';
import { artifacts } from './artifacts.ts';
import { audit } from './audit.ts';
import { authentication } from './authentication.ts';
import { authorization } from './authorization.ts';
import { bestEffort } from './best-effort.ts';
import { deadLetters } from './dead-letters.ts';
import { deliveries } from './deliveries.ts';
import { discovery } from './discovery.ts';
import { durable } from './durable.ts';
import { errors } from './errors.ts';
import { events } from './events/index.ts';
import { idempotency } from './idempotency.ts';
import { interrupts } from './interrupts.ts';
import { openapi } from './openapi.ts';
import { rotation } from './rotation.ts';
import { runs } from './runs/index.ts';
import { versions } from './versions.ts';
import { webhooks } from './webhooks.ts';
import { workspaceFiles } from './workspace-files.ts';

/**
 * All checks, in the order of `docs/conformance.md`.
 *
 * @example
 * import { CHECKS } from '@svc/conformance';
 *
 * const required = CHECKS.filter(({ level }) => level === 'MUST').map(({ id, name }) => `${id}: ${name}`);
 */
export const CHECKS: readonly Check[] = [
  ...discovery,
  ...openapi,
  ...versions,
  ...authentication,
  ...authorization,
  ...errors,
  ...runs,
  ...events,
  ...interrupts,
  ...artifacts,
  ...idempotency,
  ...webhooks,
  ...deliveries,
  ...bestEffort,
  ...durable,
  ...deadLetters,
  ...rotation,
  ...audit,
  ...workspaceFiles,
];
