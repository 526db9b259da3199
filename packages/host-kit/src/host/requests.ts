import { authenticator, type Peer } from '@svc/auth';
import type { HealthReport } from '../health/health.ts';
import type { Answer } from '../http/answer.ts';
import { contentCodings } from '../http/content-coding.ts';
import { pipeline } from '../http/pipeline.ts';
import type { Route } from '../http/route.ts';
import { vendorTable } from '../http/vendor.ts';
import { once } from '../idempotency/once.ts';
import { type Mount, mountDocuments } from '../mounts/mount.ts';
import { BODY_TIMEOUT_MS } from '../options.ts';
import { probeDocuments } from '../routes/probes.ts';
import type { Ground } from './ground.ts';
import { resourceMetadata, tokenDocuments } from './protected-resource.ts';
import { logRequest, requestFact } from './request-record.ts';

export interface RequestParts {
  readonly routes: readonly Route[];
  readonly mounts: readonly Mount[];
  readonly health: () => Promise<HealthReport>;
}

/** What answers requests: the operations of the protocol, the mounts, and documents for everybody. */
export function requests(
  ground: Ground,
  { routes, mounts, health }: RequestParts,
): (request: Request, peer?: Peer) => Promise<Answer> {
  const { served, org, authenticate, refusals, retirement, roles, store, secrets, clock, random, log, observe } =
    ground;
  const vendor = vendorTable(
    org,
    mounts.flatMap((mount) => mount.routes),
  );
  const retentionMs = ground.idempotencyRetentionHours * HOUR_MS;
  return pipeline({
    served,
    retirement,
    routes,
    vendor,
    documents: new Map([
      ...tokenDocuments(ground),
      ...mountDocuments(vendor.prefix, mounts),
      ...probeDocuments(vendor.prefix, health),
    ]),
    authenticator: authenticator({
      lanes: authenticate,
      ...(refusals !== undefined && { refusals }),
      ...resourceMetadata(ground),
    }),
    roles,
    limiter: ground.rateLimit,
    limits: { maxBytes: ground.maxRequestBodyBytes, timeoutMs: BODY_TIMEOUT_MS },
    codings: contentCodings(ground.contentEncodings),
    once: once({ store, secrets, clock, random, log, retentionMs }),
    clock,
    random,
    log,
    watch: observe.watch,
    answered(answered) {
      logRequest(log, answered);
      return ground.audit?.recorder.note(requestFact(answered));
    },
  });
}

const HOUR_MS = 3_600_000;
