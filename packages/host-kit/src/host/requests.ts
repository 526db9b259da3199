import { authenticator, type OnOutcome } from '@svc/auth';
import { MANIFEST } from '@svc/versioning';
import type { HealthReport } from '../health/health.ts';
import { takesCredential } from '../http/access.ts';
import { contentCodings } from '../http/content-coding.ts';
import { type CorsTerms, cors } from '../http/cors.ts';
import { inMajor } from '../http/description.ts';
import { mountTable } from '../http/mount-table.ts';
import { type PipelineAnswer, pipeline } from '../http/pipeline.ts';
import type { Route } from '../http/route.ts';
import { signInRules } from '../http/sign-in-rules.ts';
import { once } from '../idempotency/once.ts';
import { type Mount, mountDocuments } from '../mounts/mount.ts';
import { BODY_TIMEOUT_MS } from '../options/body-limits.ts';
import { mountsDocument } from '../routes/openapi.ts';
import { probeDocuments } from '../routes/probes.ts';
import { describedHost } from './described-host.ts';
import { resourceMetadata, tokenDocuments } from './protected-resource.ts';
import { publicRefusals } from './record-public-refusals.ts';
import { logRequest, majorOf, requestFact } from './record-request.ts';
import type { Services } from './services.ts';

export interface RequestParts {
  readonly routes: readonly Route[];
  readonly mounts: readonly Mount[];
  readonly health: () => Promise<HealthReport>;
  readonly isLost: () => boolean;
  /** Called with each request of a caller that was answered. */
  readonly onAnswered: () => void;
  /** Called with each decision about a caller. */
  readonly onOutcome: OnOutcome;
}

/** Assembles the pipeline of the operations, the mounts and the public documents. */
export function requests(
  services: Services,
  { routes, mounts, health, isLost, onAnswered, onOutcome }: RequestParts,
): PipelineAnswer {
  const {
    served,
    org,
    authenticate,
    refusals,
    retirement,
    roles,
    store,
    secrets,
    clock,
    storeClock,
    random,
    log,
    observe,
  } = services;
  const table = mountTable(
    org,
    mounts.flatMap((mount) => mount.routes),
    served.majors.has(1),
  );
  const retentionMs = services.retention.replyHours * HOUR_MS;
  return pipeline({
    served,
    retirement,
    routes,
    mounts: table,
    documents: new Map([
      ...tokenDocuments(services),
      ...mountDocuments(table.prefix, mounts),
      ...mountsDocument(table.prefix, mounts, describedHost(services)),
      ...probeDocuments(table.prefix, health, isLost),
    ]),
    authenticator: authenticator({
      lanes: authenticate,
      onOutcome,
      ...(refusals !== undefined && { refusals }),
      ...(services.access !== undefined && { denyList: services.access }),
      ...resourceMetadata(services),
    }),
    roles,
    limiter: services.rateLimit,
    signIn: signInRules(services.stepUp ?? [], credentialed(routes, mounts)),
    quotas: services.apiKeys?.quotas,
    cors: services.cors && cors(services.cors, termsOf(routes, mounts)),
    limits: { maxBytes: services.maxRequestBodyBytes, timeoutMs: BODY_TIMEOUT_MS },
    codings: contentCodings(services.contentEncodings),
    clientOf: refusals?.clientOf,
    onServedRead: services.mirror?.reads.onServed,
    once: once({ store, secrets, clock, storeClock, random, log, retentionMs }),
    clock,
    random,
    log,
    watch: observe.watch,
    refusedPublicly: publicRefusals({ log, clock, recorder: services.audit?.recorder }),
    isUnavailable: store.isUnavailable,
    admitted: () => services.audit?.recorder.admit(),
    answered(answered) {
      logRequest(log, answered);
      if (answered.principal !== undefined) onAnswered();
      const major = majorOf(answered);
      if (major !== undefined) services.versionUses.note(answered.principal, major);
      return services.audit?.recorder.recordRequest(requestFact(answered));
    },
  });
}

/** The operations that a caller asks for with a credential. */
function credentialed(routes: readonly Route[], mounts: readonly Mount[]): ReadonlySet<string> {
  const mounted = mounts
    .flatMap((mount) => mount.routes)
    .filter(({ verification, authenticator }) => verification === undefined && authenticator === undefined);
  return new Set([
    ...routes.filter(({ access }) => takesCredential(access)).map(({ operationId }) => operationId),
    ...mounted.flatMap(({ describes }) => (typeof describes === 'object' ? [describes.operationId] : [])),
  ]);
}

/** The methods and the request headers of every operation, so that a preflight permits all that the host serves. */
function termsOf(routes: readonly Route[], mounts: readonly Mount[]): CorsTerms {
  const served = new Set(routes.map(({ operationId }) => operationId));
  const mounted = mounts.flatMap((mount) => mount.routes);
  const described = mounted.flatMap(({ describes }) => (typeof describes === 'object' ? [describes] : []));
  const declared = [
    ...routes.flatMap(({ describes: { headers = {} } }) => [inMajor(headers, 1), inMajor(headers, 2)]),
    ...described.map(({ headers = {} }) => headers),
  ];
  return {
    methods: [
      ...MANIFEST.filter(({ operationId }) => served.has(operationId)).map(({ method }) => method),
      ...mounted.map(({ method }) => method),
    ],
    headers: declared.flatMap((headers) => Object.keys(headers)),
  };
}

const HOUR_MS = 3_600_000;
