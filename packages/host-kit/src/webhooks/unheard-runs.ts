import type { Served } from '@svc/versioning';
import type { HostPorts } from '../ports/host-ports.ts';
import { describeError, type LogRecord } from '../ports/log.ts';
import type { Run } from '../ports/runs.ts';
import { matches } from './match.ts';

/**
 * Tells the operator why a subscription does not hear of a new run. A run with a workspace is heard of. It never rejects, because
 * the run exists.
 */
export type TellUnheard = (run: Run) => Promise<void>;

/** Makes the one that every way to create a run uses, so that the operator is warned once. */
export function tellUnheard(
  ports: Pick<HostPorts, 'store' | 'clock' | 'log'> & { readonly served: Pick<Served, 'majors'> },
): TellUnheard {
  const { log, served } = ports;
  const unheard = new UnheardRuns(ports);

  return async (run) => {
    if (run.workspace !== undefined) return;
    const { runId, tenant } = run;
    const warning = await unheard.warningOf(run).catch((error: unknown): LogRecord => {
      return { level: 'error', event: 'run.subscriptions-not-read', runId, ...describeError(error) };
    });
    if (warning !== undefined) log(warning);
    // A later subscription of major 1 will not hear of it.
    else if (served.majors.has(1)) log({ level: 'info', event: 'run.without-workspace', runId, tenant });
  };
}

/**
 * Finds runs that a subscription does not hear of, only because they have no workspace: each works, and no delivery is
 * made. The operator is warned once for each tenant and mode.
 */
export class UnheardRuns {
  readonly #ports: Pick<HostPorts, 'store' | 'clock'>;
  /** The monotonic time from which the subscriptions of a tenant are read again. Infinity: it was warned of. */
  readonly #nextLook = new Map<string, number>();

  constructor(ports: Pick<HostPorts, 'store' | 'clock'>) {
    this.#ports = ports;
  }

  /**
   * Returns the warning about a new run without a workspace. Undefined: there is nothing to tell, or it was told. Reads the
   * first subscriptions of a tenant, at most once a minute.
   */
  async warningOf(run: Run): Promise<LogRecord | undefined> {
    const { store, clock } = this.#ports;
    const { tenant, mode } = run;
    const key = `${mode} ${tenant}`;
    const now = clock.monotonic();
    if (now < (this.#nextLook.get(key) ?? now)) return undefined;
    this.#plan(key, now + LOOK_AGAIN_MS);
    const page = { after: '', limit: MOST_READ };
    for (const subscription of await store.subscriptions.list({ tenant, mode, workspaces: 'all' }, page)) {
      const [workspace] = subscription.workspaces === 'all' ? [] : subscription.workspaces;
      if (workspace === undefined || !matches(subscription, { ...run, workspace })) continue;
      this.#plan(key, Number.POSITIVE_INFINITY);
      return warning(run, subscription.webhookId, workspace);
    }
    return undefined;
  }

  /** Forgets the tenant that was met first when there are too many. */
  #plan(key: string, nextLook: number): void {
    const [first] = this.#nextLook.keys();
    if (first !== undefined && this.#nextLook.size >= MOST_TENANTS && !this.#nextLook.has(key))
      this.#nextLook.delete(first);
    this.#nextLook.set(key, nextLook);
  }
}

function warning({ runId, tenant }: Run, webhookId: string, workspace: string): LogRecord {
  const message =
    `run: belongs to no workspace, so the webhook ${webhookId} of the workspace ${workspace} does not hear of it. ` +
    `Create runs with "tenantId": "${workspace}", or with an API key whose workspaces are a list.`;
  return { level: 'warn', event: 'run.without-workspace', runId, tenant, message };
}

const LOOK_AGAIN_MS = 60_000;
const MOST_READ = 100;
const MOST_TENANTS = 1000;
