import type { Fault } from '../fault.ts';
import { authenticationFaults, authorizationFaults, errorFaults } from './callers.ts';
import { bestEffortFaults, deliveryFaults, durableFaults, rotationFaults } from './deliveries.ts';
import { discoveryFaults, openapiFaults } from './discovery.ts';
import { eventFaults } from './events.ts';
import { artifactFaults, idempotencyFaults, interruptFaults, runFaults } from './runs.ts';
import { versionFaults } from './versions.ts';
import { auditFaults, deadLetterFaults, webhookFaults, workspaceFileFaults } from './webhooks.ts';

/** All faults, in the order of the areas. */
export const FAULTS: readonly Fault[] = [
  ...discoveryFaults,
  ...openapiFaults,
  ...versionFaults,
  ...authenticationFaults,
  ...authorizationFaults,
  ...errorFaults,
  ...runFaults,
  ...eventFaults,
  ...interruptFaults,
  ...artifactFaults,
  ...idempotencyFaults,
  ...webhookFaults,
  ...deliveryFaults,
  ...bestEffortFaults,
  ...durableFaults,
  ...deadLetterFaults,
  ...rotationFaults,
  ...auditFaults,
  ...workspaceFileFaults,
];
