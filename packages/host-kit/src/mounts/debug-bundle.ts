import { AuthError, type Principal } from '@svc/auth';
import type { Served } from '@svc/versioning';
import { mintId, resolveId } from '@svc/versioning/ids';
import { factAbout, type RecordAudit } from '../audit/fact.ts';
import type { OmittedSection } from '../debug-bundle/format.ts';
import { BundleRedactor } from '../debug-bundle/redact.ts';
import type { BundleSigner } from '../debug-bundle/sign.ts';
import { HostError } from '../errors.ts';
import { json } from '../http/description.ts';
import { type MountCall, type MountRoute, mountRoute } from '../http/route.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import { foundRun } from '../runs/find-run.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import { debugBundle } from '../wire/debug-bundle.ts';
import { addressedMajor, VERSION_HEADER } from './addressed-major.ts';
import { decisionsAbout, deliveriesOf, logOf, runOf, secretsOf } from './debug-bundle-sections.ts';

/** The parts of {@link debugBundleRoutes}. */
export interface DebugBundleOptions extends Pick<HostPorts, 'store' | 'clock' | 'random'> {
  /** Dead letters expire by it. */
  readonly storeClock: Pick<StoreClock, 'now'>;
  readonly signer: BundleSigner;
  readonly secrets: SecretBox;
  readonly recordAudit: RecordAudit;
  /** Whether the host keeps an audit log. */
  readonly hasAudit: boolean;
  readonly implementation: { readonly name: string; readonly version: string; readonly vendor: string };
  readonly served: Pick<Served, 'majors' | 'preferredMajor' | 'overlap'>;
}

/**
 * The route `/host/<org>/runs/{runId}/debug-bundle`: a run with its log, its deliveries and the decisions about it, as
 * one redacted and signed file.
 */
export function debugBundleRoutes(options: DebugBundleOptions): MountRoute[] {
  let making = 0;
  return [
    mountRoute({
      method: 'GET',
      path: '/runs/{runId}/debug-bundle',
      scope: 'runs:read',
      describes: {
        operationId: 'readDebugBundle',
        summary: 'Read the debug bundle of a run',
        description:
          'The run, its last 2000 events, its deliveries (with the scope `webhooks:manage`) and the entries of the audit ' +
          'log about it (with the scope `audit:read`), as one file of at most 16 MiB. Secrets are redacted. The host ' +
          'signs the file with a key of `signingKeys` of discovery.',
        headers: VERSION_HEADER,
        answers: {
          200: json('The signed bundle.', debugBundle, { headers: ['Cache-Control', 'Content-Disposition'] }),
        },
        errors: ['not_found', 'run_forbidden', 'id_tenant_mismatch', 'service_unavailable'],
      },
      async serve(call) {
        const run = await addressed(options, call);
        if (making >= MOST_AT_A_TIME) throw busy();
        making++;
        try {
          const body = await bundleOf(options, call, run);
          await recorded(options, call.principal, run, body.length);
          return { status: 200, headers: headersFor(run), body };
        } finally {
          making--;
        }
      },
    }),
  ];
}

/** A bundle can take 16 MiB of memory. */
const MOST_AT_A_TIME = 4;

function headersFor({ runId }: Run): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    'content-disposition': `attachment; filename="debug-bundle-${runId.replace(/[^A-Za-z0-9_-]/g, '_')}.json"`,
    'cache-control': 'private, no-store',
  };
}

async function addressed({ store, served }: DebugBundleOptions, { params, principal }: MountCall): Promise<Run> {
  const { tenancy } = principal;
  const { overlap } = served;
  const resolved = resolveId(params.runId ?? '', { tenant: tenancy.tenant, major: 2, overlap });
  if (!resolved.ok) throw resolved.error;
  return foundRun(await store.runs.read(tenancy, resolved.id));
}

async function bundleOf(options: DebugBundleOptions, call: MountCall, run: Run): Promise<Uint8Array> {
  const { store, clock, storeClock, random, signer, implementation, served, hasAudit } = options;
  const major = addressedMajor(call.request.url, call.headers, served);
  const redactor = new BundleRedactor(await secretsOf(options, run));
  const omitted: OmittedSection[] = [];
  const owner = await permitted(call, 'webhooks:manage');
  const auditor = await reaching(store, run, await permitted(call, 'audit:read'));
  // The last decision is recorded with the request: it is the one that lets the caller have the bundle.
  await call.permit('runs:read');
  const { events, section: log } = await logOf(store, major, run, redactor);
  const kept = { run, events, now: storeClock.now() };
  if (owner === undefined) omitted.push({ section: 'deliveries', reason: 'not-permitted' });
  if (auditor === undefined || !hasAudit)
    omitted.push({ section: 'decisions', reason: auditor === undefined ? 'not-permitted' : 'not-kept' });
  const unsigned = {
    bundleVersion: '2',
    kind: 'debug',
    bundleId: mintId('bdl', clock.now, random),
    createdAt: new Date(clock.now()).toISOString(),
    host: { ...implementation },
    major,
    run: runOf(major, run, redactor),
    log,
    ...(owner !== undefined && { deliveries: await deliveriesOf(store, owner.tenancy, kept, redactor) }),
    ...(auditor !== undefined && hasAudit && { decisions: await decisionsAbout(store, run, redactor) }),
    omitted,
  } as const;
  return signer.sign({ ...unsigned, redactions: redactor.count() });
}

/** The caller, limited to the workspaces in which it holds a scope; undefined when it holds it nowhere. */
async function permitted(call: MountCall, scope: string): Promise<Principal | undefined> {
  return call.permit(scope).catch((error: unknown) => {
    if (AuthError.is(error)) return undefined;
    throw error;
  });
}

/** A caller may hold a scope in workspaces other than that of the run. */
async function reaching(
  { runs }: Pick<Store, 'runs'>,
  { runId }: Run,
  principal: Principal | undefined,
): Promise<Principal | undefined> {
  if (principal === undefined) return undefined;
  return (await runs.read(principal.tenancy, runId)).kind === 'found' ? principal : undefined;
}

function recorded(options: DebugBundleOptions, principal: Principal, run: Run, bytes: number): Promise<void> {
  const { store, clock, recordAudit } = options;
  const target = `${run.tenant}/${run.runId}`;
  const fact = factAbout(principal, {
    ...({ action: 'run.debug-bundle', target, at: clock.now(), workspace: run.workspace } as const),
    details: { bytes },
  });
  return store.transaction((transaction) => recordAudit(fact, transaction));
}

function busy(): HostError<'service_unavailable'> {
  return new HostError('service_unavailable', 'The host is making other debug bundles. Try again.', {
    details: undefined,
    headers: { 'retry-after': '2' },
  });
}
