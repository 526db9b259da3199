import type { Circuit } from '../ports/subscriptions.ts';

/** When the circuit of a best-effort subscription opens, and for how long. */
export interface CircuitRule {
  /** The number of consecutive failures that opens the circuit. */
  readonly failureThreshold: number;
  /** How long an open circuit admits nothing, in ms. Then it admits one probe. */
  readonly cooldownMs: number;
}

/** How long a circuit that is not closed keeps attempts out, in ms. */
export interface AdmissionRule extends Pick<CircuitRule, 'cooldownMs'> {
  /** How long a probe keeps other attempts out when the host dies during it. */
  readonly probeMs: number;
}

/** By so much two hosts may read the clock of their store differently. */
const INACCURACY_MS = 2000;

export const CLOSED: Circuit = { state: 'closed', consecutiveFailures: 0 };

/**
 * Decides whether an attempt may begin at `now`, and returns the circuit after that decision.
 *
 * A circuit whose end lies further ahead than any rule sets it was stored by another clock, and admits a probe.
 */
export function admit(
  circuit: Circuit,
  now: number,
  { probeMs, cooldownMs }: AdmissionRule,
): { readonly admitted: boolean; readonly circuit: Circuit } {
  if (circuit.state === 'closed') return { admitted: true, circuit };
  const longest = circuit.state === 'open' ? cooldownMs : probeMs;
  if (now < circuit.until && circuit.until <= now + longest + INACCURACY_MS) return { admitted: false, circuit };
  return { admitted: true, circuit: { state: 'half-open', until: now + probeMs } };
}

/** Returns the circuit after a success: closed, with no failures counted. */
export function afterSuccess(): Circuit {
  return CLOSED;
}

/**
 * Returns the circuit after a failure. A failed probe opens it for another cooldown; otherwise the threshold decides.
 */
export function afterFailure(circuit: Circuit, now: number, rule: CircuitRule): Circuit {
  if (circuit.state === 'half-open') return { state: 'open', until: now + rule.cooldownMs };
  // The attempt began before the circuit opened, so it must not prolong the cooldown.
  if (circuit.state === 'open') return circuit;
  const consecutiveFailures = circuit.consecutiveFailures + 1;
  if (consecutiveFailures < rule.failureThreshold) return { state: 'closed', consecutiveFailures };
  return { state: 'open', until: now + rule.cooldownMs };
}
