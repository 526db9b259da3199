import { HostError } from '../errors.ts';

/** Limits the requests under way that callers cause at once, in all and for each tenant. */
export class TenantSlots {
  readonly #most: { readonly total: number; readonly perTenant: number };
  readonly #message: string;
  /** The number of requests of each tenant that has any. */
  readonly #countOf = new Map<string, number>();

  /** @param message of the error when no slot is free */
  constructor(most: { readonly total: number; readonly perTenant: number }, message: string) {
    this.#most = most;
    this.#message = message;
  }

  /**
   * @returns a function that gives the slot back
   * @throws {HostError} `service_unavailable` when all slots, or those of the tenant, are taken
   */
  enter(tenant: string): () => void {
    const own = this.#countOf.get(tenant) ?? 0;
    const all = [...this.#countOf.values()].reduce((sum, count) => sum + count, 0);
    if (own >= this.#most.perTenant || all >= this.#most.total) throw unavailable(this.#message);
    this.#countOf.set(tenant, own + 1);
    return () => this.#leave(tenant);
  }

  #leave(tenant: string): void {
    const left = (this.#countOf.get(tenant) ?? 1) - 1;
    if (left === 0) this.#countOf.delete(tenant);
    else this.#countOf.set(tenant, left);
  }
}

/** The refusal of a request for which the host has no room, or no time before it stops. */
export function unavailable(why: string): HostError {
  const headers = { 'retry-after': '5' };
  return new HostError('service_unavailable', `${why} Try again.`, { details: undefined, headers });
}
