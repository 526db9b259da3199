import { EVENT_TYPES, storedType } from '../events/event-types.ts';
import { judged } from '../events/gate.ts';
import type { NewEvent, WorkflowEngine } from '../ports/engine.ts';

/**
 * Makes the gate for the events of an engine.
 *
 * @returns a function that returns an event as it is stored. It throws a TypeError for an event that only the kit
 * records, a type that the engine does not declare, and as `judged`
 */
export function engineGate({ events }: Pick<WorkflowEngine, 'events'>): (event: NewEvent) => NewEvent {
  const declared = events && new Set(events.map((name) => storedType(name) ?? name));
  return (event) => {
    refuseReserved(storedType(event.type) ?? event.type);
    const taken = judged(event);
    if (declared?.has(taken.type) === false) {
      throw new TypeError(`${event.type}: is not in events of the engine. Add it there.`);
    }
    return taken;
  };
}

/**
 * Rejects an event that the kit records itself, because the status of the run depends on it.
 *
 * @throws {TypeError} when an engine may not append the type
 */
function refuseReserved(type: string): void {
  if (!isReserved(type)) return;
  throw new TypeError(
    `${type}: is recorded by the kit. Return an outcome to end a run; call execution.interrupt to let it wait.`,
  );
}

/** Whether only the kit records a type. */
export function isReserved(type: string): boolean {
  const recordedBy = EVENT_TYPES.get(type)?.recordedBy;
  return recordedBy === 'kit' || recordedBy === 'never' || typeof recordedBy === 'object';
}
