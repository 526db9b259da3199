import type { Clock, Log, Random, WorkflowEngine } from '@svc/host-kit';

/** The parts of an engine on Restate. */
export interface RestateEngineOptions {
  /** The engine whose turns Restate executes, such as one of `stepsEngine`. */
  readonly engine: WorkflowEngine;
  /** `http://…` of the ingress of Restate. */
  readonly ingressUrl: string;
  /** `http://…` of the admin API of Restate. */
  readonly adminUrl: string;
  /** The port on which the process serves its handler for Restate, 0 to 65535. 0: any free port. */
  readonly port: number;
  /** The address on which it serves the handler. Default: `127.0.0.1`. */
  readonly host?: string;
  /**
   * `http://…` under which Restate calls the handler of this process, and of no other one. Default: `http://`, `host` and `port`.
   */
  readonly handlerUrl?: string;
  /**
   * The public keys, `publickeyv1_…`, of the clusters that may call the handler. Default: none, and every caller that
   * reaches the port may.
   */
  readonly identityKeys?: readonly string[];
  /** The days for which Restate keeps an ended turn, 1 to 3650. Default: 7. */
  readonly turnDays?: number;
  /** Takes warnings and errors about Restate. Default: they are not written. */
  readonly log?: Log;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /** Draws the ids of turns. Default: `systemRandom`. */
  readonly random?: Random;
  /** Calls the ingress and the admin API. Default: `fetch` of the platform. */
  readonly fetch?: typeof globalThis.fetch;
}

/** Options with their defaults. */
export type CheckedOptions = RestateEngineOptions &
  Required<Pick<RestateEngineOptions, 'host' | 'identityKeys' | 'turnDays'>>;

/**
 * Completes the options of an engine on Restate.
 *
 * @throws {TypeError} for an unknown option, and one outside of its range
 */
export function checkedOptions(options: RestateEngineOptions): CheckedOptions {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(KNOWN, name));
  if (unknown !== undefined) throw new TypeError(`restateEngine: ${unknown} is not an option. Remove it.`);
  const { host = '127.0.0.1', identityKeys = [], turnDays = 7, ...others } = options;
  if (typeof others.engine?.execute !== 'function') {
    throw new TypeError(
      'restateEngine: engine is not a workflow engine. Pass one, such as stepsEngine({ workflows }).',
    );
  }
  const ingressUrl = requireUrl('ingressUrl', others.ingressUrl);
  const adminUrl = requireUrl('adminUrl', others.adminUrl);
  const { handlerUrl } = others;
  if (typeof host !== 'string' || host === '') {
    throw new TypeError('restateEngine: host is not an address. Write one of this machine, such as 127.0.0.1.');
  }
  requireWhole('port', others.port, 0, 65_535);
  requireWhole('turnDays', turnDays, 1, 3650);
  if (!identityKeys.every((key) => /^publickeyv1_[A-Za-z0-9]+$/.test(key))) {
    throw new TypeError(
      'restateEngine: identityKeys has a text that is no public key. Copy publickeyv1_… from the log of Restate.',
    );
  }
  const handler = handlerUrl === undefined ? {} : { handlerUrl: requireUrl('handlerUrl', handlerUrl) };
  return { ...others, ...handler, ingressUrl, adminUrl, host, identityKeys, turnDays };
}

const KNOWN: Readonly<Record<keyof RestateEngineOptions, true>> = {
  ...{ engine: true, ingressUrl: true, adminUrl: true, port: true, host: true, handlerUrl: true },
  ...{ identityKeys: true, turnDays: true, log: true, clock: true, random: true, fetch: true },
};

/** Returns a URL without a slash at its end. */
function requireUrl(name: string, value: string): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  const isPlain = url?.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/$/, '');
  throw new TypeError(`restateEngine: ${name} is not a URL of Restate. Write http://HOST:PORT.`);
}

function requireWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new TypeError(`restateEngine: ${name} must be a whole number from ${least} to ${most}.`);
}
