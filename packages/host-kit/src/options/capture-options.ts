/** The answers of failing receivers that are stored. The defaults are in `CAPTURE_DEFAULTS`. */
export interface CaptureOptions {
  /** The most bytes of a body that are stored, from 0 to 16 384. Default 1024. */
  readonly maxBytes: number;
  /** The time for which an answer is stored, in hours, from 1 to 720. Default 72. */
  readonly retentionHours: number;
  /**
   * The headers that are stored, by their names. `set-cookie` and other headers with credentials are refused. Default:
   * those of the content, `date`, `retry-after`, `server` and `x-request-id`.
   */
  readonly headers: readonly string[];
}

/** The defaults of `WebhookOptions.captureAnswers`. */
export const CAPTURE_DEFAULTS: CaptureOptions = {
  maxBytes: 1024,
  retentionHours: 72,
  headers: ['content-encoding', 'content-length', 'content-type', 'date', 'retry-after', 'server', 'x-request-id'],
};
