import type { JsonObject } from '../../json.ts';
import { boundId, plainId } from '../members.ts';
import { closed, type Members, object, type PayloadShape } from '../shape.ts';

/** All that is known of an event type. Its key in the vocabulary is its name in major 2. @see Interface: Events */
export interface EventEntry extends Partial<PayloadRules> {
  /** A sentence about the event. */
  readonly text: string;
  /** The name in major 1. Default: that of major 2. */
  readonly nameInMajor1?: string;
  /** Who records the events. Default: `engine`. */
  readonly recordedBy?: Recorder;
  /** Whether the stream mode `updates` shows the events: they move a run on for those who watch it. */
  readonly isUpdate?: true;
}

/**
 * Who records the events of a type.
 *
 * - `engine`: the engine alone
 * - `kit`: the kit alone, for every engine
 * - `kit-and-engine`: the kit, and an engine may append them too
 * - `roles-and-engine`: the kit of a host that authorizes by roles, and an engine may append them too
 * - `questions`: the kit alone, when an engine asks a question of a kind
 * - `never`: an engine may not append them, and no feature of the kit records them
 */
export type Recorder =
  | 'engine'
  | 'kit'
  | 'kit-and-engine'
  | 'roles-and-engine'
  | 'never'
  | { readonly questions: 'any' | 'approval' | 'clarification' };

/** The payload of an event type whose members the interface names. */
export interface PayloadRules {
  /** The payload in major 2: closed where the interface names its members. */
  readonly payload: PayloadShape;
  /** The payload in major 1. Default: the members of major 2, and any others. */
  readonly inMajor1?: PayloadShape;
  /** The payload as it is stored, where it has the members of both majors. Default: `payload`. */
  readonly stored?: PayloadShape;
  /** A payload of major 2, for test deliveries and documentation. */
  readonly example: JsonObject;
  /** A payload of major 1. Default: `example`. */
  readonly exampleInMajor1?: JsonObject;
  /** Members with the id of a run: stored as in major 1, and bound to the tenant in major 2. */
  readonly runIds?: readonly string[];
}

/**
 * The rules of a payload with ids that major 2 binds to the tenant.
 *
 * @param stored the form of an id that is taken. Default: any, because the kit records only ids that it has read
 */
export function byId<const M extends Members>(members: (id: PayloadShape<string>) => M, stored = plainId) {
  return {
    payload: closed(members(boundId)),
    inMajor1: object(members(plainId)),
    stored: closed(members(stored)),
  };
}

/** The id of a run in examples. */
export const RUN_ID = 'run_01k0p3v5tq9d8m2x4c6b8n0r1s';
/** The id of a question in examples. */
export const INTERRUPT_ID = 'int_01k0p3v7kd2m4s6q8x0z1b3n5r';
