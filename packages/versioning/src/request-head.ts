/** The part of a request that negotiation looks at. */
export interface RequestHead {
  readonly method: string;
  /** The request target exactly as received: path and query. */
  readonly target: string;
  readonly headers: { get(name: string): string | null };
}
