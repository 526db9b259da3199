import { VERSION_HEADER } from '../headers.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { Operation } from '../manifest.ts';
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

/**
 * Rejects options that have an unknown name, or lack `served`. Otherwise an adapter without it would fail with its first request.
 *
 * @throws {TypeError} when they do
 */
export function requireVersioningOptions<Options extends VersioningOptions>(
  options: Options,
  names: OptionNames<Options>,
): void {
  requireKnown('versioning', options, names);
  const served: unknown = options.served;
  if (typeof served === 'object' && served !== null && 'majors' in served && 'phase' in served) return;
  throw new TypeError(
    `versioning: served ${served === undefined ? 'is required' : 'must be made by served()'}. Pass served({ versions: ['1.1', '2.0'], preferred: '1.1' }).`,
  );
}

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
  const { status, ...failure } = failureOf(negotiation, served);
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

function failureOf(
  negotiation: Exclude<Negotiation, { kind: 'operation' | 'foreign' }>,
  served: Pick<Served, 'majors'>,
): AnsweredFailure {
  if (negotiation.kind === 'refused') {
    const { status, code, message, details } = negotiation.error;
    return { status, code, message, details };
  }
  if (negotiation.kind === 'absent') {
    const message = `The operation does not exist in this major.${remedy(negotiation.operation, served)}`;
    return { status: 404, code: 'not_found', message };
  }
  const { allow, elsewhere } = negotiation;
  return {
    status: 405,
    code: 'validation_error',
    message: `This path takes ${allow.join(', ')}.${remedy(elsewhere, served)}`,
    details: { fields: [{ field: 'method', problem: `must be ${allow.join(' or ')}` }] },
  };
}

/** Names the request that reaches an operation of the other major; empty where that major is not served. */
function remedy(operation: Operation | undefined, served: Pick<Served, 'majors'>): string {
  const major = operation?.majors.find((each) => served.majors.has(each));
  if (operation === undefined || major === undefined) return '';
  const { method, path } = operation;
  const request = major === 1 ? `${method} /v1${path}` : `${method} ${path} with ${VERSION_HEADER}: 2`;
  return ` Major ${major} has the operation: send ${request}.`;
}
