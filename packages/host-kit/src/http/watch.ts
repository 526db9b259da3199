import type { Major, OperationId } from '@svc/versioning';
import type { Answer } from './answer.ts';

/** What a request asks for, as far as its head tells: out of closed sets, and nothing that a caller chose. */
export interface Asked {
  /** Undefined: no operation of the manifest. */
  readonly operation: OperationId | undefined;
  /** The template of its path; undefined: the host has nothing there. */
  readonly route: string | undefined;
  /** Undefined: outside of the protocol. */
  readonly major: Major | undefined;
}

/**
 * Stands around every request but those for public documents: it calls `serve` once and answers what that answers. What it learns
 * is told to no step of the pipeline, so no decision can rest on it.
 */
export type RequestWatch = (request: Request, asked: Asked, serve: () => Promise<Answer>) => Promise<Answer>;
