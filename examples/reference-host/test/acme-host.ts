import { readFileSync } from 'node:fs';
import { asDescribed } from '@svc/tools/as-described';
import { bootHost, type RunningHost, scratch, startReceiver } from './booted-host.ts';
import { bootInProcess } from './host-in-process.ts';

export const KEY = 'operator_brought_key_of_enough_characters';
export const DEV = 'operator_brought_key_of_another_workspace';
export const WIDE = 'operator_brought_key_for_the_whole_tenant';
export const OTHER_TENANT = 'operator_brought_key_of_another_tenant_x';
export const BYOK = 'operator_brought_key_that_keeps_the_secrets';
export const READER = 'operator_brought_key_that_may_only_read_it';

export const FILES = 'operator_brought_key_for_files_of_a_workspace';
export const DEV_FILES = 'operator_brought_key_for_files_of_another_ws';

export const MANIFEST = 'operator_brought_key_that_reads_workflows_only';

export const CHIEF = 'operator_brought_key_that_overrides_approvals';

export interface CallOptions {
  readonly method?: string;
  readonly key?: string;
  readonly major?: string;
  readonly body?: unknown;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type AcmeHost = Awaited<ReturnType<typeof startAcme>>;

/** An `AcmeHost` in a process of its own, which can be ended by a signal. */
export type AcmeProcess = Awaited<ReturnType<typeof startAcmeProcess>>;

/** Starts a host of two tenants in the process of the test, with a receiver that its subscriptions may point at. */
export async function startAcme(webhooks: object, others: object = {}) {
  const { host, current, reboot } = await acme<Booted>(webhooks, others, async (file, config) => {
    const host = await bootInProcess(file, config);
    return { ...host, stop: host.end };
  });
  return {
    ...host,
    /**
     * Moves the host into a process of its own, kills that process after `act`, and boots the host in the process of the test.
     * Everything that has to survive the kill belongs into `act`: a host that moves is stopped in order.
     *
     * @returns the result of `act`
     */
    async killAfter<T>(act: () => T | Promise<T>): Promise<T> {
      await current().stop();
      await reboot(async (file, config) => {
        const host = await bootHost(file, config);
        return { ...host, stop: host.end };
      });
      const done = await act();
      await current().end();
      await reboot();
      return done;
    },
  };
}

/** Starts the host of `startAcme` in a process of its own. */
export async function startAcmeProcess(webhooks: object, others: object = {}) {
  const { host, current, changed, reboot } = await acme(webhooks, others, async (file, config) => {
    const host = await bootHost(file, config);
    const signal = (name: NodeJS.Signals) => {
      host.process.kill(name);
      return host.ended;
    };
    return { ...host, signal, stop: () => signal('SIGTERM') };
  });
  return {
    ...host,
    /** Sends the host a signal, and resolves with its exit code or the signal. */
    end(signal: NodeJS.Signals): Promise<number | string> {
      changed();
      return current().signal(signal);
    },
    /** Kills the host, and boots it with the same configuration. */
    async crash() {
      await current().end();
      await reboot();
    },
  };
}

interface Booted extends RunningHost {
  /** Stops it in order. */
  stop(): Promise<unknown>;
}

async function acme<B extends Booted>(
  webhooks: object,
  others: object,
  boot: (file: string, config: object) => Promise<B>,
) {
  const folder = scratch();
  const file = folder.path('config.json');
  const receiver = await startReceiver();
  const send = asDescribed(fetch, () => readFileSync(file, 'utf8'));
  const key = (id: string, secret: string, fields: object = {}) => ({
    id,
    key: secret,
    tenant: 'acme',
    workspaces: ['acme-prod'],
    principal: `p_${id}`,
    scopes: [
      ...['runs:create', 'runs:read', 'runs:cancel', 'runs:annotate', 'artifacts:read', 'approvals:respond'],
      'webhooks:manage',
    ],
    ...fields,
  });
  const config = {
    listen: { port: 0 },
    store: `sqlite:${folder.path('svc.db')}`,
    tenants: [
      { id: 'acme', workspaces: ['acme-prod', 'acme-dev'] },
      { id: 'umbrella', workspaces: ['hive'] },
    ],
    apiKeys: [
      key('key_1', KEY),
      key('key_2', DEV, { workspaces: ['acme-dev'] }),
      key('key_3', WIDE, { workspaces: ['*'] }),
      key('key_4', OTHER_TENANT, { tenant: 'umbrella', workspaces: ['*'] }),
      key('key_5', READER, { scopes: ['runs:read'] }),
      key('key_7', FILES, { scopes: ['workspace:read', 'workspace:write'] }),
      key('key_8', DEV_FILES, { workspaces: ['acme-dev'], scopes: ['workspace:read', 'workspace:write'] }),
      key('key_9', MANIFEST, { scopes: ['manifest:read'] }),
      key('key_10', CHIEF, { scopes: ['runs:read', 'approvals:override'] }),
      key('key_6', BYOK, { scopes: ['byok:manage'] }),
    ],
    webhooks,
    egress: { allowLoopback: [receiver.port] },
    ...others,
  };
  let host = await boot(file, config);
  let isChanged = false;

  async function unregisterAll(secret: string): Promise<void> {
    const headers = { authorization: `Bearer ${secret}`, 'svc-version': '2' };
    const listed = await fetch(`${host.url}/host/example/webhooks`, { headers });
    const { webhooks: found } = await listed.json();
    for (const { webhookId } of found) {
      const removed = await fetch(`${host.url}/webhooks/${encodeURIComponent(webhookId)}`, {
        method: 'DELETE',
        headers,
      });
      if (removed.status !== 204) throw new Error(`${webhookId} was not removed: ${removed.status}`);
    }
  }

  const acmeHost = {
    receiver,
    stderr: (): readonly string[] => host.stderr,
    url: () => host.url,
    /** Returns the text of its configuration. */
    config: () => readFileSync(file, 'utf8'),
    /** Returns the path of a file of the host. */
    path: folder.path,
    /** Sends a JSON request. The default key is `KEY`. */
    async call(path: string, options: CallOptions = {}) {
      const { key: secret = KEY, body, major, headers = {}, method = body === undefined ? 'GET' : 'POST' } = options;
      const response = await send(host.url + path, {
        method,
        headers: {
          authorization: `Bearer ${secret}`,
          ...(major !== undefined && { 'svc-version': major }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
    },
    /** Ends the host, and boots it with changes of `webhooks` and of other keys. Calls `whileDown` between. */
    async reboot(changed: object, others: object = {}, whileDown = () => {}) {
      const config = JSON.parse(readFileSync(file, 'utf8'));
      await host.stop();
      whileDown();
      const webhooks = { ...config.webhooks, ...changed };
      isChanged = true;
      host = await boot(file, { ...config, webhooks, ...others });
    },
    /**
     * Prepares the host for the next test of a file: it has its first configuration, no subscription, and a receiver
     * that got no request. Runs and files stay.
     */
    async clear() {
      if (isChanged) {
        await host.end();
        host = await boot(file, config);
        isChanged = false;
      }
      for (const secret of [WIDE, OTHER_TENANT]) await unregisterAll(secret);
      receiver.clear();
    },
    /** Reads a file beside the database, by the end of its name. */
    kept: (suffix: string) => readFileSync(folder.path(`svc.db${suffix}`), 'utf8'),
    async stop() {
      await host.end();
      await receiver.close();
      folder.remove();
    },
  };
  return {
    host: acmeHost,
    current: () => host,
    /** The next test of a file needs another host. */
    changed() {
      isChanged = true;
    },
    /** Boots the host with the configuration that it had. */
    async reboot(by: typeof boot = boot) {
      host = await by(file, JSON.parse(readFileSync(file, 'utf8')));
    },
  };
}
