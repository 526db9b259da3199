import type { AttemptPhaseName } from './attempts.ts';

/**
 * Sends webhook requests: a POST to a URL that a caller of the host chose. The default is `guardedPost` of
 * `@svc/egress-guard/post`, which resolves, validates and pins the address for each request. Another transport must
 * protect the host's network as well as that.
 */
export interface Transport {
  /**
   * Sends one request and returns its verdict. It follows no redirect. Network errors and time-outs are verdicts, not
   * rejections; a rejection counts as a failed attempt with the reason `transport`, and is logged as an error.
   */
  (request: TransportRequest): Promise<TransportVerdict>;
  /** Closes idle connections and ends requests under way. The host calls it last. */
  close?(): void;
}

/** One POST request. */
export interface TransportRequest {
  /** Absolute URL, chosen by a caller of the host: not trusted. */
  readonly url: string;
  /** All headers to send except those that the transport derives (`host`, `content-length`, `connection`). */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Time limit in ms from name resolution to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Ends the request when it aborts; the verdict is then `failed`. */
  readonly signal: AbortSignal;
  /**
   * Asks for the answer's body, if it has at most this many bytes. Default: the body is discarded. The host verifies
   * endpoints by this body: with a transport that ignores the option, no endpoint can be verified.
   */
  readonly keepBodyBytes?: number;
  /**
   * Asks for the answer in `failure`, with at most this many bytes of its body, when the status is not 2xx. Default: it is
   * discarded. With a transport that ignores the option, no answer is captured.
   */
  readonly keepFailureBytes?: number;
  /**
   * `true`: send the request at most once, over a connection of its own. `'kept'`: send it at most once, over a
   * kept-alive connection if there is one. Default: when a kept-alive connection breaks, send it again, so a receiver
   * may get it twice.
   */
  readonly once?: boolean | 'kept';
  /**
   * Called when a phase of the request begins, for the record of the attempt. It must not be called after the verdict.
   * A transport that cannot tell its phases ignores it.
   */
  readonly onPhase?: ((phase: AttemptPhaseName) => void) | undefined;
}

/** The outcome of a request. */
export type TransportVerdict =
  | {
      /** The receiver answered, with any status. */
      readonly kind: 'answered';
      /** HTTP status. */
      readonly status: number;
      /** The `Retry-After` header as it was received. */
      readonly retryAfter: string | undefined;
      /** The answer's body, complete. Present only if `keepBodyBytes` asked for it and it was not longer. */
      readonly body?: Uint8Array;
      /** The answer. Present only if `keepFailureBytes` asked for it and the status is not 2xx. */
      readonly failure?: ReceivedFailure;
      /** Duration of the request in ms. */
      readonly durationMs: number;
    }
  | {
      /** `denied`: the transport's policy rejected the URL and sent no request. `failed`: no complete answer came. */
      readonly kind: 'denied' | 'failed';
      /** A short code for logs and operators, such as `timeout`. */
      readonly reason: string;
      /** Duration of the request in ms. */
      readonly durationMs: number;
    };

/** An answer whose status is not 2xx. The receiver chose its content: not trusted. */
export interface ReceivedFailure {
  /** The headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body. */
  readonly body: Uint8Array;
  /** Whether the body was longer, or was not read to its end. */
  readonly isCut: boolean;
}
