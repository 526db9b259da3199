import type { AuthErrorCode } from '@svc/auth';
import type { Major, VersioningErrorCode } from '@svc/versioning';
import type { z } from 'zod';
import type { HostErrorCode } from '../errors.ts';
import type { Json } from '../json.ts';

/**
 * The entry of an operation in the API description. The route adds its method, path, scope and request body.
 * `openapi/errors.ts` adds the errors that every operation of its kind can answer with.
 *
 * @example
 * describes: {
 *   tag: 'Runs',
 *   summary: 'Read a run',
 *   answers: { 200: json('The run as it stands.', snapshot, { headers: ['ETag'] }), 304: empty('It has not changed.')
 * },
 *   errors: ['not_found', 'run_forbidden'],
 * }
 */
export interface Description {
  readonly tag: Tag;
  /** A few words in the imperative. */
  readonly summary: string;
  /** Further sentences for callers, in CommonMark. */
  readonly description: string;
  /**
   * Query parameters by name, in the form that a caller writes. A schema that accepts `undefined` makes one optional.
   */
  readonly query?: PerMajor<Parameters>;
  /**
   * Request headers of this operation alone. Headers of every operation, and `If-None-Match` beside a 304, are added.
   */
  readonly headers?: PerMajor<Parameters>;
  /** A request body that is accepted. */
  readonly example?: PerMajor<Json>;
  /** Every successful answer by its status. */
  readonly answers: PerMajor<Answers>;
  /** Errors of this operation alone. */
  readonly errors?: PerMajor<readonly ErrorCode[]>;
}

/**
 * The entry of a mount's route in the API description of the mounts. The route adds its method, path and scope.
 *
 * @example
 * describes: {
 *   operationId: 'readStatus',
 *   summary: 'Read the status of the host',
 *   description: 'The readiness of the host, and the backlog of deliveries for the tenant of the caller.',
 *   answers: { 200: json('The status.', hostStatus) },
 * }
 */
export interface MountDescription {
  /** Unique among the operations of all mounts. Generators name the function of a client after it. */
  readonly operationId: string;
  /** A few words in the imperative. */
  readonly summary: string;
  /** Further sentences for callers, in CommonMark. */
  readonly description: string;
  /** Path parameters of this route alone. Those of the protocol (`runId`, `webhookId`, …) are described already. */
  readonly path?: Parameters;
  /** Query parameters by name, in the form that a caller writes. */
  readonly query?: Parameters;
  /** Request headers of this route alone. */
  readonly headers?: Parameters;
  /** The JSON body. Default: any JSON, if the route takes a body. */
  readonly body?: z.ZodType;
  /** The body of a route that reads it itself, by media type. Default: that of `body`. */
  readonly content?: Readonly<Record<string, z.ZodType>>;
  /** The credential that a route with a verification of its own demands. Default: none that a header carries. */
  readonly credential?: RouteCredential;
  /** A request body that is accepted. */
  readonly example?: Json;
  /** Every successful answer by its status. */
  readonly answers: Answers;
  /** Errors of this route alone. */
  readonly errors?: readonly ErrorCode[];
}

/** A credential that one public surface takes, as `Authorization: Bearer <credential>`. */
export interface RouteCredential {
  /** Its name in the API description. Routes that take the same credential name it alike. Not `bearer` and not `dpop`. */
  readonly name: string;
  /** In a sentence: where its holder gets it. */
  readonly description: string;
}

/** The chapters of the API description. */
export type Tag =
  | 'Discovery'
  | 'Workflows'
  | 'Runs'
  | 'Events'
  | 'Interrupts'
  | 'Artifacts'
  | 'Webhooks'
  | 'Triggers'
  | 'Audit'
  | 'Workspace files';

/** One for both majors, or one for each. */
export type PerMajor<T> = T | ByMajor<T>;
/** One for each major. */
export type ByMajor<T> = Readonly<Record<Major, T>>;
export type Parameters = Readonly<Record<string, z.ZodType>>;
/** The successful answers of an operation by their status. */
export type Answers = Readonly<Record<number, AnswerDescription>>;
/** The codes of the errors that a host answers. */
export type ErrorCode = HostErrorCode | AuthErrorCode | VersioningErrorCode;

/** Response headers that an answer may name. Headers of every response are added. */
export type AnswerHeader = 'ETag' | 'Cache-Control' | 'Content-Disposition' | 'Vary';

/** A successful answer in the API description. */
export interface AnswerDescription {
  readonly description: string;
  readonly headers: readonly AnswerHeader[];
  /** The schema of each media type. Empty: there is no body. */
  readonly content: Readonly<Record<string, ByMajor<z.ZodType>>>;
}

interface AnswerOptions {
  readonly headers?: readonly AnswerHeader[];
}

/** An answer with a JSON body. */
export function json(
  description: string,
  schema: PerMajor<z.ZodType>,
  options?: AnswerOptions & { readonly mediaType?: string },
): AnswerDescription {
  const { mediaType = 'application/json', headers = [] } = options ?? {};
  return { description, headers, content: { [mediaType]: { 1: inMajor(schema, 1), 2: inMajor(schema, 2) } } };
}

/** A stream of server-sent events. The data of each is an instance of `schema`. */
export function eventStream(
  description: string,
  schema: PerMajor<z.ZodType>,
  options?: AnswerOptions,
): AnswerDescription {
  return json(description, schema, { ...options, mediaType: EVENT_STREAM });
}

/** An answer without a body. */
export function empty(description: string, { headers = [] }: AnswerOptions = {}): AnswerDescription {
  return { description, headers, content: {} };
}

const EVENT_STREAM = 'text/event-stream';

/** The value of a major, where both majors may share one. */
export function inMajor<T>(value: PerMajor<T>, major: Major): T {
  return isByMajor(value) ? value[major] : value;
}

/** Tells a record by major from a plain record: no parameter, status or code is called `1`. */
function isByMajor<T>(value: PerMajor<T>): value is ByMajor<T> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && '1' in value && '2' in value;
}
