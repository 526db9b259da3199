import { COMMANDS, HELP } from './command-table.ts';
import { endWithParent } from './runtime.ts';
import { serve } from './serve.ts';
import { complain, LOG, survive } from './terminal.ts';

/**
 * Runs a command of `COMMANDS`. Without the name of one it boots the host that `--config FILE` or
 * `SVC_HOST_CONFIG=FILE` describes, and runs it until SIGTERM or SIGINT. Sets the exit code: 2 for wrong usage and for a
 * bad configuration, 1 for another failure, also when the
 * database is lost while the host runs.
 */
export async function command(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  endWithParent();
  survive();
  // Node writes its warnings as plain text. On stderr every line has to be a JSON object.
  process
    .removeAllListeners('warning')
    .on('warning', ({ name, message }) => LOG({ level: 'warn', event: 'node.warning', name, message }));
  const [name = '', ...others] = args;
  if (name === '--help' || name === '-h') process.stdout.write(HELP);
  else if (name === '' || name.startsWith('-')) await serve(args, environment);
  else process.exitCode = (await COMMANDS.get(name)?.run(others)) ?? unknown(name);
}

function unknown(name: string): number {
  complain(`${JSON.stringify(name)}: is not a command. Use one of ${[...COMMANDS.keys()].join(', ')}, or --help.`);
  return 2;
}
