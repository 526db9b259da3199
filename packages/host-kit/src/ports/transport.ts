/**
 * The one way out: a POST to a URL that a stranger chose. The guard of `@svc/egress-guard/post` is the real one; it resolves,
 * validates and pins at each call.
 */
export interface Transport {
  /** Whatever becomes of it is a verdict. One that throws counts as a failure with the reason `transport`. */
  (request: TransportRequest): Promise<TransportVerdict>;
  /** Closes what it keeps open. The host calls it last. */
  close?(): void;
}

export interface TransportRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Wall-clock bound over everything from resolution to the last byte. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /**
   * Hands over the body of the answer, whole, if it has at most so many bytes. Default: none is kept. Endpoints are verified by it, so a
   * transport that keeps none verifies none.
   */
  readonly keepBodyBytes?: number;
  /**
   * Must not be sent again, whatever becomes of a connection; `'kept'`: may still go over one that was kept. Default: a receiver may see a
   * delivery twice.
   */
  readonly once?: boolean | 'kept';
}

export type TransportVerdict =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfter: string | undefined;
      /** There when it was asked for, and not too long. */
      readonly body?: Uint8Array;
      readonly durationMs: number;
    }
  | { readonly kind: 'denied' | 'failed'; readonly reason: string; readonly durationMs: number };
