import type { Fault } from '../fault.ts';
import { answerFaults } from './answers.ts';
import { authenticationFaults, authorizationFaults, errorFaults } from './callers.ts';
import { crossingFaults } from './crossing.ts';
import { bestEffortFaults, deliveryFaults, durableFaults, rotationFaults } from './deliveries.ts';
import { discoveryFaults, openapiFaults } from './discovery.ts';
import { eventFaults } from './events.ts';
import { allRunsFaults, debugBundleFaults } from './host-mounts.ts';
import {
  annotationFaults,
  artifactFaults,
  clarificationFaults,
  effectFaults,
  externalEventFaults,
  idempotencyFaults,
  interruptFaults,
  runFaults,
} from './runs.ts';
import { triggerFaults } from './triggers.ts';
import { versionFaults } from './versions.ts';
import { auditFaults, deadLetterFaults, webhookFaults, workspaceFileFaults } from './webhooks.ts';

/** All faults, in the order of the areas. */
export const FAULTS: readonly Fault[] = [
  ...discoveryFaults,
  ...openapiFaults,
  ...versionFaults,
  ...crossingFaults,
  ...authenticationFaults,
  ...authorizationFaults,
  ...errorFaults,
  ...runFaults,
  ...eventFaults,
  ...allRunsFaults,
  ...interruptFaults,
  ...clarificationFaults,
  ...externalEventFaults,
  ...annotationFaults,
  ...artifactFaults,
  ...effectFaults,
  ...idempotencyFaults,
  ...webhookFaults,
  ...deliveryFaults,
  ...bestEffortFaults,
  ...durableFaults,
  ...deadLetterFaults,
  ...rotationFaults,
  ...triggerFaults,
  ...auditFaults,
  ...workspaceFileFaults,
  ...debugBundleFaults,
  ...answerFaults,
];
