import type { Authenticator, Peer, QuotaCounter, RefusalLimit, RoleAuthorizer } from '@svc/auth';
import type { RateLimiter } from '@svc/auth/rate-limit';
import { negotiate, type Retirement, type Served, stampRetirement, VERSION_HEADER } from '@svc/versioning';
import { errorEnvelope } from '@svc/versioning/projection';
import type { Once } from '../idempotency/once.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { type Answer, answerOf, plainError, withoutBody } from './answer.ts';
import { type BodyLimits, readJson, readOptionalJson, refuseDeclaredLength } from './body.ts';
import { callerSteps } from './caller.ts';
import { matchesEtag } from './conditional.ts';
import type { ContentCodings } from './content-coding.ts';
import type { Cors } from './cors.ts';
import { type Arrival, Exchange } from './exchange.ts';
import { failureAnswer } from './failure.ts';
import { idempotencyKeyIn } from './idempotency.ts';
import { type MountEndpointOptions, mountEndpoint } from './mount-endpoint.ts';
import type { MountTable } from './mount-table.ts';
import { refuseNul } from './nul.ts';
import { operationEndpoints, type ProtocolNegotiation } from './operation-endpoint.ts';
import { type PublicRefusal, publicAdmission } from './public-endpoint.ts';
import type { FailureOptions } from './refusal.ts';
import { faultError, type RequestFault } from './request-fault.ts';
import { type RequestRecord, recordOf } from './request-record.ts';
import type { Reply, Route } from './route.ts';
import type { OnServedRead } from './served-read.ts';
import type { SignInRules } from './sign-in-rules.ts';
import { pathOf, targetOf } from './target.ts';
import type { Asked, RequestWatch } from './watch.ts';

export interface PipelineOptions extends Pick<HostPorts, 'clock' | 'random' | 'log'> {
  readonly served: Served;
  /** Stamped on every response of major 1. */
  readonly retirement: Retirement | undefined;
  readonly routes: readonly Route[];
  /** The routes under `/host/<org>`, which belong to no major. */
  readonly mounts: MountTable;
  /** Public documents outside of the protocol, by their path. They are the same for every caller. */
  readonly documents: ReadonlyMap<string, () => Promise<Reply>>;
  readonly authenticator: Authenticator;
  readonly roles: RoleAuthorizer | undefined;
  readonly limiter: RateLimiter | undefined;
  /** The sign-in that operations and scopes need. */
  readonly signIn: SignInRules;
  /** Counts the quotas of credentials. Undefined: a credential with a quota is refused. */
  readonly quotas: QuotaCounter | undefined;
  /** The web pages that may call the host; undefined: none. */
  readonly cors: Cors | undefined;
  readonly limits: BodyLimits;
  readonly codings: ContentCodings;
  /** Called with each read of the protocol that is answered with 200. Undefined: with none. */
  readonly onServedRead: OnServedRead | undefined;
  /** Executes requests that have an idempotency key. */
  readonly once: Once;
  /** Identifies the clients of public routes. Default: by the address of their connection. */
  readonly clientOf: RefusalLimit['clientOf'] | undefined;
  /** Called with each request that a public route refuses to verify. */
  readonly refusedPublicly: (refusal: PublicRefusal) => void;
  readonly watch: RequestWatch;
  readonly isUnavailable: FailureOptions['isUnavailable'];
  /**
   * Called before a request is authenticated. It rejects while the record of the request could not be written, and
   * otherwise the request waits for a returned promise.
   */
  readonly admitted: () => Promise<void> | undefined;
  /**
   * Called with the record of every request whose caller is known, when its answer is. The answer waits for a returned
   * promise.
   */
  readonly answered: (record: RequestRecord) => Promise<void> | undefined;
}

/** One step of the pipeline. It throws to refuse the request. */
type Step = (exchange: Exchange) => Promise<void> | undefined | void;

/** Answers one request. A request with a fault of its framing is refused before any other step. */
export type PipelineAnswer = (request: Request, peer?: Peer, fault?: RequestFault) => Promise<Answer>;

/**
 * Takes a request through the same steps in the same order, whether an operation of the protocol or a mount is
 * addressed. A refusal at one step tells the caller nothing about the later ones.
 */
export function pipeline(options: PipelineOptions): PipelineAnswer {
  const { served, clock, documents, limits, mounts, watch, codings } = options;
  const { authenticate, limitRate, permit, permitScopes, judgeAgain } = callerSteps(options);
  const gate = { authenticator: options.authenticator };
  const operationEndpoint = operationEndpoints({ ...options, gate, judgeAgain });
  const mountOptions: MountEndpointOptions = {
    ...{ gate, permit, judgeAgain, once: options.once, now: clock.now, log: options.log, random: options.random },
    isUnavailable: options.isUnavailable,
    admit: publicAdmission({ clock, clientOf: options.clientOf, refused: options.refusedPublicly }),
  };
  const retirementStamps = stampsOfRetirement(options.retirement);
  const stampsOf = versionStamps(retirementStamps);

  /**
   * Framing, limits, version, room for a record, authentication, rate limit, existence, scope and role, sign-in, path and
   * query, idempotency key, body. The handler follows.
   */
  const steps: readonly Step[] = [
    refuseFault,
    ({ arrival }) => refuseDeclaredLength(arrival.request.headers, limits),
    refuseVersion,
    ({ endpoint }) => (endpoint.gate === undefined ? undefined : options.admitted()),
    authenticate,
    limitRate,
    refuseUnserved,
    permitScopes,
    refuseNul,
    readIdempotencyKey,
    readBody,
  ];

  return options.cors === undefined ? routed : acrossOrigins(options.cors, routed, stampsOfPreflight);

  function stampsOfPreflight({ url }: Request): Answer['headers'] {
    const negotiation = negotiate({ method: 'OPTIONS', target: targetOf(url), headers: NO_HEADERS }, served);
    return negotiation.kind === 'foreign' ? NO_STAMPS : stampsOf(negotiation);
  }

  async function routed(request: Request, peer?: Peer, found?: RequestFault): Promise<Answer> {
    const target = targetOf(request.url);
    const fault = found && faultError(found);
    const arrival = { request, peer, target, fault, startedAt: clock.now(), since: clock.monotonic() };
    const negotiation = negotiate({ method: request.method, target, headers: request.headers }, served);
    if (negotiation.kind === 'foreign') return outsideProtocol(arrival, fault);
    const mismatch = versionErrorOfTwin(negotiation, mounts.twinOf(pathOf(target)));
    if (mismatch !== undefined) return outsideProtocol(arrival, fault ?? mismatch);
    return watch(request, askedOf(negotiation, target), () => protocol(arrival, negotiation));
  }

  async function protocol(arrival: Arrival, negotiation: ProtocolNegotiation): Promise<Answer> {
    const params = negotiation.kind === 'operation' ? negotiation.params : NO_PARAMS;
    const exchange = new Exchange(arrival, operationEndpoint(negotiation), params);
    const answered = await answer(exchange, stampsOf(negotiation));
    const coded = await codings.encode(arrival.request.headers, answered);
    return arrival.request.method === 'HEAD' ? withoutBody(coded) : coded;
  }

  /** Mounts are watched; public documents are not, since they are the same for every caller. */
  async function outsideProtocol(arrival: Arrival, refusal?: Error): Promise<Answer> {
    const { request, target } = arrival;
    const path = pathOf(target);
    const twinOf = mounts.twinOf(path);
    const found = mounts.find(request.method, twinOf ?? path);
    const read = found === undefined ? documents.get(twinOf ?? path) : undefined;
    if (read !== undefined && refusal === undefined) return document(request, read);
    const prefix = twinOf === undefined ? mounts.prefix : `/v1${mounts.prefix}`;
    const route = found?.kind === 'route' ? prefix + found.route.path : undefined;
    return watch(request, { operation: undefined, route, major: undefined }, async () => {
      if (found?.kind === 'route') {
        const major = twinOf === undefined ? served.preferredMajor : 1;
        const address = { major, path: prefix + found.route.path, versionError: refusal } as const;
        const exchange = new Exchange(arrival, mountEndpoint(mountOptions, found.route, address), found.params);
        return answer(exchange, twinOf === undefined ? NO_STAMPS : retirementStamps);
      }
      if (refusal !== undefined) return failureAnswer(refusal, options, errorEnvelope[1]);
      if (found === undefined) return plainError(404, 'not_found', 'There is nothing at this path.');
      return notAllowed(found.allow);
    });
  }

  /** Takes an exchange through every step and its handler, and records it. */
  async function answer(exchange: Exchange, stamps: Answer['headers']): Promise<Answer> {
    const { status, headers, body } = await serve(exchange).catch((error: unknown) =>
      failureAnswer(error, options, exchange.endpoint.errorBody),
    );
    const record = recordOf(exchange, status, clock.monotonic());
    if (record !== undefined) await options.answered(record);
    return { status, headers: { ...headers, ...exchange.headers, ...stamps }, body };
  }

  async function serve(exchange: Exchange): Promise<Answer> {
    for (const step of steps) {
      const taken = step(exchange);
      if (taken !== undefined) await taken;
    }
    return exchange.endpoint.serve(exchange);
  }

  function readBody(exchange: Exchange): Promise<void> | undefined {
    return exchange.endpoint.body === 'none' ? undefined : readDeclaredBody(exchange);
  }

  async function readDeclaredBody(exchange: Exchange): Promise<void> {
    const read = exchange.endpoint.body === 'optional' ? readOptionalJson : readJson;
    exchange.body = await read(exchange.arrival.request, limits);
  }

  async function document({ method, headers }: Request, read: () => Promise<Reply>): Promise<Answer> {
    if (method !== 'GET' && method !== 'HEAD') return notAllowed(['GET', 'HEAD']);
    const envelope = errorEnvelope[served.preferredMajor];
    const answered = await rendered(read, headers).catch((error: unknown) => failureAnswer(error, options, envelope));
    return method === 'HEAD' ? withoutBody(answered) : answered;
  }
}

/** Answers preflights, and grants every other answer to the configured origins. */
function acrossOrigins(
  cors: NonNullable<PipelineOptions['cors']>,
  routed: PipelineAnswer,
  stampsOfPreflight: (request: Request) => Answer['headers'],
): PipelineAnswer {
  return async (request, peer, fault) => {
    const preflight = fault === undefined ? cors.preflight(request) : undefined;
    if (preflight === undefined) return cors.granted(request, await routed(request, peer, fault));
    return { ...preflight, headers: { ...preflight.headers, ...stampsOfPreflight(request) } };
  };
}

/** An error of the document, or of its rendering, rejects. */
async function rendered(read: () => Promise<Reply>, asked: Headers): Promise<Answer> {
  const reply = await read();
  const { status, headers } = reply;
  const isKnown = headers?.etag !== undefined && matchesEtag(asked.get('if-none-match'), headers.etag);
  return answerOf(isKnown && status === 200 ? { status: 304, headers } : reply);
}

function refuseFault({ arrival }: Exchange): void {
  if (arrival.fault !== undefined) throw arrival.fault;
}

function refuseVersion({ endpoint }: Exchange): void {
  if (endpoint.versionError !== undefined) throw endpoint.versionError;
}

function readIdempotencyKey(exchange: Exchange): void {
  const { arrival, endpoint } = exchange;
  if (endpoint.takesKey) exchange.idempotencyKey = idempotencyKeyIn(arrival.request.headers, endpoint.major);
}

function refuseUnserved({ endpoint }: Exchange): void {
  if (endpoint.unserved !== undefined) throw endpoint.unserved;
}

function notAllowed(allow: readonly string[]): Answer {
  const refused = plainError(405, 'validation_error', `This path takes ${allow.join(', ')}.`);
  return { ...refused, headers: { ...refused.headers, allow: allow.join(', ') } };
}

const NO_PARAMS: Readonly<Record<string, string>> = {};
const NO_STAMPS: Answer['headers'] = {};
/** The `OPTIONS` of a preflight has no header of the request that it announces. */
const NO_HEADERS = {};
const VERSION = VERSION_HEADER.toLowerCase();

/** The headers that announce the retirement of major 1. */
function stampsOfRetirement(retirement: Retirement | undefined): Answer['headers'] {
  const retiring = new Headers();
  if (retirement !== undefined) stampRetirement(retiring, retirement);
  return Object.fromEntries(retiring);
}

/** The headers of every response under a contract. They are made once for each contract. */
function versionStamps(retiring: Answer['headers']): (negotiation: ProtocolNegotiation) => Answer['headers'] {
  const made = new Map<string, Answer['headers']>();
  return ({ major, contract }) => {
    const known = made.get(contract);
    if (known !== undefined) return known;
    const stamps = { ...(major === 1 && retiring), [VERSION]: contract };
    made.set(contract, stamps);
    return stamps;
  };
}

/** The refusal of the version of a request to the twin of a mount. The twin belongs to no contract, so it is not stamped. */
function versionErrorOfTwin(negotiation: ProtocolNegotiation, twinOf: string | undefined): Error | undefined {
  if (twinOf === undefined || negotiation.kind !== 'refused') return undefined;
  return negotiation.error.code === 'protocol_version_mismatch' ? negotiation.error : undefined;
}

function askedOf(negotiation: ProtocolNegotiation, target: string): Asked {
  const operation = 'operation' in negotiation ? negotiation.operation : undefined;
  const route = operation && (target.startsWith('/v1/') ? `/v1${operation.path}` : operation.path);
  return { operation: operation?.operationId, route, major: negotiation.major };
}
