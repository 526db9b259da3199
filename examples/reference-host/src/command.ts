import { readFileSync } from 'node:fs';
import type { Log } from '@svc/host-kit';
import { boot, type Running } from './boot.ts';
import { type Config, parseConfig } from './config.ts';
import { endWithParent } from './runtime.ts';

/** `main.js --config FILE`, or `SVC_HOST_CONFIG=FILE`: boots the host and runs it until it is told to stop. */
export async function command(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  endWithParent();
  // Node's own warnings take the form of every other line on stderr.
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
    // A TypeError is how the parts say that they were put together wrongly.
    process.exit(error instanceof TypeError ? BAD_CONFIGURATION : 1);
  }
}

const BAD_CONFIGURATION = 2;

function readConfig(args: readonly string[], environment: NodeJS.ProcessEnv): Config | undefined {
  const file =
    args[0] === '--config' && args.length === 2 ? args[1] : args.length === 0 ? environment.SVC_HOST_CONFIG : undefined;
  if (file === undefined) {
    complain('Name a configuration: main.js --config FILE, or SVC_HOST_CONFIG=FILE.');
    return undefined;
  }
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    complain(`${file}: cannot be read.`);
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

const LEFT_FOR_OTHERS_MS = 900;
const MARGIN_MS = 250;

/** The first signal stops in order, and in time; a second ends at once. */
function stopOnSignal({ stop, stopWithinMs }: Running): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    log({ level: 'info', event: 'host.stopping', signal });
    // A store that does not answer would hold it up; whatever it could not hand back is taken over when its lease ends.
    const late = setTimeout(() => {
      log({ level: 'error', event: 'host.stop-late', afterMs: stopWithinMs });
      process.exit(1);
    }, stopWithinMs - MARGIN_MS);
    stop().then(
      () => {
        clearTimeout(late);
        // What was loaded beside the host, such as an OpenTelemetry SDK, may end in order: at `beforeExit`, and soon.
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
