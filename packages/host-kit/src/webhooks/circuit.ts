import type { Circuit } from '../ports/subscriptions.ts';

export interface CircuitRule {
  /** Consecutive failures that open the circuit. */
  readonly failureThreshold: number;
  readonly cooldownMs: number;
}

export const CLOSED: Circuit = { state: 'closed', consecutiveFailures: 0 };

/** Whether an attempt may start now, and the circuit once it has. */
export function admit(
  circuit: Circuit,
  now: number,
  probeMs: number,
): { readonly admitted: boolean; readonly circuit: Circuit } {
  if (circuit.state === 'closed') return { admitted: true, circuit };
  if (now < circuit.until) return { admitted: false, circuit };
  return { admitted: true, circuit: { state: 'half-open', until: now + probeMs } };
}

export function afterSuccess(): Circuit {
  return CLOSED;
}

/** A failed probe re-opens for a full cooldown; otherwise the threshold decides. */
export function afterFailure(circuit: Circuit, now: number, rule: CircuitRule): Circuit {
  if (circuit.state === 'half-open') return { state: 'open', until: now + rule.cooldownMs };
  // An attempt that was already out when the circuit opened proves nothing new.
  if (circuit.state === 'open') return circuit;
  const consecutiveFailures = circuit.consecutiveFailures + 1;
  if (consecutiveFailures < rule.failureThreshold) return { state: 'closed', consecutiveFailures };
  return { state: 'open', until: now + rule.cooldownMs };
}
