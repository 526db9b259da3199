import { constants } from 'node:os';
import { AuditLogError, SchemaVersionError } from '@svc/host-kit';
import { boot, type Running } from './boot.ts';
import type { Config } from './config.ts';
import { readConfig } from './read-config.ts';
import { complain, LOG } from './terminal.ts';

/** Boots the configured host, and runs it until SIGTERM or SIGINT. */
export async function serve(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const config = await configOf(args, environment);
  if (config === undefined) {
    process.exitCode = BAD_CONFIGURATION;
    return;
  }
  // Process 1 of a container ignores a signal without a listener, so a stop during the start would be lost.
  process.on('SIGTERM', endDuringStart).on('SIGINT', endDuringStart);
  try {
    const running = await boot(config, LOG);
    process.off('SIGTERM', endDuringStart).off('SIGINT', endDuringStart);
    stopOnSignal(running);
    endWhenLost(running);
    process.stdout.write(`${JSON.stringify({ ready: true, url: running.url })}\n`);
  } catch (error) {
    complain(error instanceof Error ? error.message : 'The host could not be started.');
    process.exit(CONFIGURED.some((kind) => error instanceof kind) ? BAD_CONFIGURATION : 1);
  }
}

const BAD_CONFIGURATION = 2;

/**
 * Errors that a restart does not mend. The packages throw a TypeError for options that do not fit together, which all
 * come from the configuration.
 */
const CONFIGURED = [TypeError, AuditLogError, SchemaVersionError];

/** Ends a process that has accepted no request yet, with the exit code of shells for the signal. */
function endDuringStart(signal: NodeJS.Signals): void {
  LOG({ level: 'info', event: 'host.stopping', signal });
  process.exit(128 + constants.signals[signal]);
}

async function configOf(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<Config | undefined> {
  const file =
    args[0] === '--config' && args.length === 2 ? args[1] : args.length === 0 ? environment.SVC_HOST_CONFIG : undefined;
  if (file === undefined) {
    complain('No configuration file is named. Start main.js with --config FILE, or set SVC_HOST_CONFIG=FILE.');
    return undefined;
  }
  const read = await readConfig(file);
  if (read.ok) return read.config;
  for (const problem of read.problems) complain(problem);
  return undefined;
}

/** Ends the process with 1 when its database is lost, so that a supervisor starts it again. */
function endWhenLost({ lost }: Running): void {
  void lost.then(({ message }) => {
    LOG({ level: 'error', event: 'host.ending', afterMs: LOST_GRACE_MS, message });
    // Also for a stop that a signal begins meanwhile.
    process.exitCode = 1;
    // No orderly stop: nothing can be stored any more.
    setTimeout(() => process.exit(1), LOST_GRACE_MS);
  });
}

/** Time for requests under way to be answered, and for a load balancer to see readyz fail. */
const LOST_GRACE_MS = 2000;
/** Time for modules that were loaded before the host, such as an OpenTelemetry SDK, to end at `beforeExit`. */
const LEFT_FOR_OTHERS_MS = 900;
/** Ends a late stop this long before `stopWithinMs`, so that the exit itself is in time. */
const MARGIN_MS = 250;

/** Stops the host at the first signal, within `stopWithinMs`. A second signal ends the process at once. */
function stopOnSignal({ stop, stopWithinMs }: Running): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    LOG({ level: 'info', event: 'host.stopping', signal });
    // A store that does not answer would delay the exit for ever. Other hosts take its deliveries over when their
    // leases end.
    const late = setTimeout(() => {
      LOG({ level: 'error', event: 'host.stop-late', afterMs: stopWithinMs });
      process.exit(1);
    }, stopWithinMs - MARGIN_MS);
    stop().then(
      () => {
        clearTimeout(late);
        process.exitCode ??= 0;
        setTimeout(() => process.exit(), LEFT_FOR_OTHERS_MS).unref();
      },
      (error: unknown) => {
        LOG({ level: 'error', event: 'host.stop-failed', error: String(error) });
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}
