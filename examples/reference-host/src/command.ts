import { readFileSync } from 'node:fs';
import type { Log } from '@svc/host-kit';
import { boot, type Running } from './boot.ts';
import { type Config, parseConfig } from './config.ts';
import { endWithParent } from './runtime.ts';

/**
 * Boots the host that `--config FILE` or `SVC_HOST_CONFIG=FILE` describes, and runs it until SIGTERM or SIGINT. Ends
 * the process with exit code 2 for a bad configuration, and with 1 for another failure.
 */
export async function command(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  endWithParent();
  // Node writes its warnings as plain text. On stderr every line has to be a JSON object.
  process
    .removeAllListeners('warning')
    .on('warning', ({ name, message }) => log({ level: 'warn', event: 'node.warning', name, message }));
  const config = readConfig(args, environment);
  if (config === undefined) {
    process.exitCode = BAD_CONFIGURATION;
    return;
  }
  try {
    const running = await boot(config, log);
    stopOnSignal(running);
    process.stdout.write(`${JSON.stringify({ ready: true, url: running.url })}\n`);
  } catch (error) {
    complain(error instanceof Error ? error.message : 'The host could not be started.');
    // The packages throw a TypeError for options that do not fit together, which all come from the configuration.
    process.exit(error instanceof TypeError ? BAD_CONFIGURATION : 1);
  }
}

const BAD_CONFIGURATION = 2;

function readConfig(args: readonly string[], environment: NodeJS.ProcessEnv): Config | undefined {
  const file =
    args[0] === '--config' && args.length === 2 ? args[1] : args.length === 0 ? environment.SVC_HOST_CONFIG : undefined;
  if (file === undefined) {
    complain('No configuration file is named. Start main.js with --config FILE, or set SVC_HOST_CONFIG=FILE.');
    return undefined;
  }
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    complain(`${file}: cannot be read. Check the path and its permissions.`);
    return undefined;
  }
  const parsed = parseConfig(text);
  if (parsed.ok) return parsed.config;
  for (const problem of parsed.problems) complain(problem);
  return undefined;
}

const log: Log = (record) => {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), ...record })}\n`);
};

function complain(problem: string): void {
  process.stderr.write(`${problem}\n`);
}

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
    log({ level: 'info', event: 'host.stopping', signal });
    // A store that does not answer would delay the exit for ever. Other hosts take its deliveries over when their
    // leases end.
    const late = setTimeout(() => {
      log({ level: 'error', event: 'host.stop-late', afterMs: stopWithinMs });
      process.exit(1);
    }, stopWithinMs - MARGIN_MS);
    stop().then(
      () => {
        clearTimeout(late);
        process.exitCode = 0;
        setTimeout(() => process.exit(0), LEFT_FOR_OTHERS_MS).unref();
      },
      (error: unknown) => {
        log({ level: 'error', event: 'host.stop-failed', error: String(error) });
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}
