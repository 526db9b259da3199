import type { Major, OperationId } from '@svc/versioning';
import type { Answer } from './answer.ts';

/** The operation that a request addresses. Every value is from a closed set; none is text of the caller's. */
export interface Asked {
  /** Undefined: the path names no operation of the manifest. */
  readonly operation: OperationId | undefined;
  /** The template of the path; undefined: the host serves nothing there. */
  readonly route: string | undefined;
  /** Undefined: the path is outside of the protocol. */
  readonly major: Major | undefined;
}

/**
 * Wraps the serving of every request except those for public documents. It calls `serve` once and returns its answer.
 * No step of the pipeline reads its measurements, so no decision can depend on them.
 */
export type RequestWatch = (request: Request, asked: Asked, serve: () => Promise<Answer>) => Promise<Answer>;
