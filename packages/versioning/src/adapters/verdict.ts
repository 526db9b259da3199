import { VERSION_HEADER } from '../headers.ts';
import { type Negotiation, negotiate } from '../negotiate.ts';
import { errorEnvelope } from '../projection/error-envelope.ts';
import type { RequestHead } from '../request-head.ts';
import { type Retirement, stampRetirement } from '../retirement.ts';
import type { Served } from '../served.ts';

export interface VersioningOptions {
  readonly served: Served;
  /** Said on every response of major 1. */
  readonly retirement?: Retirement;
}

/** What a request turned out to be for. */
export type NegotiatedOperation = Extract<Negotiation, { kind: 'operation' }>;

/** What an adapter does with a request. */
export type Verdict =
  /** The application's: `headers` go on whatever it answers. */
  | { readonly kind: 'operation'; readonly negotiation: NegotiatedOperation; readonly headers: Headers }
  /** Answered here. */
  | { readonly kind: 'answered'; readonly status: number; readonly headers: Headers; readonly body: string }
  /** No matter of the protocol. */
  | { readonly kind: 'foreign' };

/** The negotiation of a request as something that can be answered. */
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
