import type { Family } from './families.ts';

/** The families that the kit serves. The documents describe them from the facts about the host, and from no claim. */
export const KIT_FAMILIES = [
  'authorization',
  'eventLog',
  'idempotency',
  'restTransport',
  'runList',
  'webhooks',
  'workspace',
] as const satisfies readonly Family[];

/** A family that the kit serves. */
export type KitFamily = (typeof KIT_FAMILIES)[number];
