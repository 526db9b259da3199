import type { ReplayedNode } from '../../ports/engine.ts';
import { StepFailure } from './step-failure.ts';

/**
 * The failure of a child run, with which `child` rejects. The code and the message are those of the child; a child that
 * was cancelled has the code `child_cancelled`.
 *
 * @example
 * const photo = await child('resize', resizeImage, { image }).catch((error: unknown) => {
 *   if (error instanceof ChildFailure && error.code === 'acme.too_large') return undefined;
 *   throw error;
 * });
 */
export class ChildFailure extends StepFailure {
  override readonly name = 'ChildFailure';
  /** The status with which the child ended. */
  readonly status: 'failed' | 'cancelled';

  constructor(
    status: ChildFailure['status'],
    {
      code,
      message,
      retryable = false,
      step,
    }: Pick<StepFailure, 'code' | 'message' | 'step'> & { retryable?: boolean },
  ) {
    super(code, message, { retryable, ...(step !== undefined && { step }) });
    this.status = status;
  }
}

type FailedNode = ReplayedNode & { readonly status: 'failed' };

/** The failure of a step as its log records it. */
export function recordedFailure(step: string, { error: { code, message, retryable = false, details } }: FailedNode) {
  const status = details?.childStatus;
  if (status === 'failed' || status === 'cancelled')
    return new ChildFailure(status, { code, message, retryable, step });
  return new StepFailure(code, message, { retryable, step });
}
