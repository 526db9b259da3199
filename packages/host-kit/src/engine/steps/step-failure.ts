import type { RunFailure } from '../../ports/runs.ts';

/** Details of a {@link StepFailure}. */
export interface StepFailureOptions {
  /** Whether a caller may start the workflow again. Default: false. */
  readonly retryable?: boolean;
  /** The error behind the failure. It is not shown to callers. */
  readonly cause?: unknown;
}

/**
 * The failure of a step. Throw it in a step to fail without further attempts; throw it in a workflow to fail the run. Its
 * code and message are shown to callers. `step` rejects with it when the attempts are used up, so that a workflow can
 * catch it and go on.
 *
 * @example
 * if (response.status === 402) throw new StepFailure('payment_refused', 'The bank refused the card.');
 */
export class StepFailure extends Error {
  override readonly name: string = 'StepFailure';
  readonly code: string;
  readonly retryable: boolean;
  /** The step that failed; undefined when a workflow threw the failure itself. */
  readonly step: string | undefined;

  /**
   * @param code a word for programs, such as `payment_refused`
   * @param message a sentence for people. It must hold no secret
   */
  constructor(code: string, message: string, options: StepFailureOptions & { readonly step?: string } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.step = options.step;
  }
}

/** The failure in the form of events and runs. */
export function failureOf({ code, message, retryable }: StepFailure): RunFailure & { readonly retryable: boolean } {
  return { code, message, retryable };
}
