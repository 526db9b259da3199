import type { AuthorizationDecided, Principal } from '@svc/auth';
import type { Major } from '@svc/versioning';
import type { Answer } from './answer.ts';
import type { Route } from './route.ts';

/** A read that was answered with 200, with all that is needed to answer it again. */
export interface ServedRead {
  readonly route: Route;
  readonly major: Major;
  /** Path segments as received. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The caller, as it was permitted. */
  readonly principal: Principal;
  readonly decided: AuthorizationDecided | undefined;
  readonly body: Exclude<Answer['body'], ReadableStream | undefined>;
}

/** Called before the answer is sent. It returns at once, and never throws. */
export type OnServedRead = (read: ServedRead) => void;
