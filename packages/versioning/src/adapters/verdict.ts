import { VERSION_HEADER } from '../headers.ts';
import type { OptionNames } from '../known-options.ts';
import { type Negotiation, negotiate } from '../negotiate.ts';
import { errorEnvelope } from '../projection/error-envelope.ts';
import type { RequestHead } from '../request-head.ts';
import { type Retirement, stampRetirement } from '../retirement.ts';
import type { Served } from '../served.ts';

/** Options of every adapter. */
export interface VersioningOptions {
  /** The versions that the host serves, from `served()`. */
  readonly served: Served;
  /** Announced on every response of major 1 as `Deprecation`, `Sunset` and `Link`. Default: no announcement. */
  readonly retirement?: Retirement;
}

/** The names of {@link VersioningOptions}. */
export const VERSIONING_OPTIONS: OptionNames<VersioningOptions> = { served: true, retirement: true };

/** The operation that a request names, with its major and path parameters. */
export type NegotiatedOperation = Extract<Negotiation, { kind: 'operation' }>;

/** The adapter's next step for a request. */
export type Verdict =
  /** The application handles the request; `headers` are added to its response. */
  | { readonly kind: 'operation'; readonly negotiation: NegotiatedOperation; readonly headers: Headers }
  /** The adapter sends this response itself. */
  | { readonly kind: 'answered'; readonly status: number; readonly headers: Headers; readonly body: string }
  /** The path is outside the protocol. */
  | { readonly kind: 'foreign' };

/** Negotiates a request and turns the result into headers and, for a rejected request, a complete response. */
export function verdictOn(request: RequestHead, { served, retirement }: VersioningOptions): Verdict {
  const negotiation = negotiate(request, served);
  if (negotiation.kind === 'foreign') return { kind: 'foreign' };
  const headers = new Headers({ [VERSION_HEADER]: negotiation.contract });
  if (negotiation.major === 1 && retirement !== undefined) stampRetirement(headers, retirement);
  if (negotiation.kind === 'operation') return { kind: 'operation', negotiation, headers };
  const { status, ...failure } = failureOf(negotiation);
  headers.set('content-type', 'application/json');
  if (negotiation.kind === 'method-not-allowed') headers.set('allow', negotiation.allow.join(', '));
  const body = request.method === 'HEAD' ? '' : JSON.stringify(errorEnvelope[negotiation.major](failure));
  return { kind: 'answered', status, headers, body };
}

interface AnsweredFailure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

function failureOf(negotiation: Exclude<Negotiation, { kind: 'operation' | 'foreign' }>): AnsweredFailure {
  if (negotiation.kind === 'refused') {
    const { status, code, message, details } = negotiation.error;
    return { status, code, message, details };
  }
  if (negotiation.kind === 'absent') {
    return { status: 404, code: 'not_found', message: 'The operation does not exist in this major.' };
  }
  return { status: 405, code: 'method_not_allowed', message: `This path takes ${negotiation.allow.join(', ')}.` };
}
