import type { GuardedFetch } from '@svc/egress-guard/fetch';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Random } from '../ports/random.ts';
import type { Transport } from '../ports/transport.ts';
import type { TelemetryOptions } from '../telemetry/scope.ts';

/**
 * The surroundings of a host. A program or a test can replace each.
 *
 * @example
 * const ports: PortOptions = { log: (record) => pino.info(record) };
 */
export interface PortOptions {
  /**
   * Receives structured log records. Default: those of the levels `warn` and `error` are written to standard error, each as
   * a line of JSON whose long texts are cut, and one line a second for one cause. `() => {}` writes nothing.
   */
  readonly log?: Log;
  /** The destination of metrics and spans. Default: the OpenTelemetry SDK that the process has registered, if any. */
  readonly telemetry?: TelemetryOptions;
  /** Sends deliveries. Default: the guarded POST of `@svc/egress-guard/post` under `egress`. */
  readonly transport?: Transport;
  /**
   * The fetch of runs, `execution.fetch`. The host closes it at its stop. Default: the guarded fetch of
   * `@svc/egress-guard/fetch` under `egress`, with the limits of `discovery.families.httpClient`.
   */
  readonly fetch?: GuardedFetch;
  /** The source of time. Default: the clock of the machine. */
  readonly clock?: Clock;
  /** The source of ids, secrets and jitter. Default: the generator of the operating system. */
  readonly random?: Random;
}
