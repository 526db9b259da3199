/**
 * A number of places that tenants share. A tenant may take another place while its own places and the free ones are in
 * less than the proportion of `perTenant` to `total - perTenant`. So one tenant alone takes `perTenant` places. The more
 * tenants take what they can, the fewer each of them gets, and some places stay free for a tenant that has none:
 * with k such tenants, about one part in 3k + 1 when `perTenant` is three quarters of `total`.
 *
 * A place cannot be taken back from a receiver that hangs, so only a free place helps a tenant that comes later.
 */
export class SharedPlaces {
  readonly #total: number;
  readonly #perTenant: number;
  readonly #takenBy = new Map<string, number>();
  #taken = 0;

  constructor({ total, perTenant }: { readonly total: number; readonly perTenant: number }) {
    this.#total = total;
    this.#perTenant = perTenant;
  }

  get free(): number {
    return this.#total - this.#taken;
  }

  takenBy(tenant: string): number {
    return this.#takenBy.get(tenant) ?? 0;
  }

  hasRoomFor(tenant: string): boolean {
    return this.takenBy(tenant) * (this.#total - this.#perTenant) < this.#perTenant * this.free;
  }

  /** Takes a place, even when there is no room. */
  take(tenant: string): void {
    this.#takenBy.set(tenant, this.takenBy(tenant) + 1);
    this.#taken += 1;
  }

  giveBack(tenant: string): void {
    const left = this.takenBy(tenant) - 1;
    if (left > 0) this.#takenBy.set(tenant, left);
    else this.#takenBy.delete(tenant);
    this.#taken -= 1;
  }
}
