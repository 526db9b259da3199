import { VERSION } from '../package-version.ts';
import { CALLERS_HELP, callersCommand } from './callers.ts';
import { CHECK_HELP, checkCommand } from './check.ts';
import { ENGINE_VERSION_HELP, engineVersionCommand } from './engine-version.ts';
import { MIRROR_HELP, mirrorCommand } from './mirror.ts';
import { type Terminal, UsageError } from './terminal.ts';

const HELP = `Usage: svc-versioning COMMAND [OPTIONS]

Commands:
  engine-version   convert engineVersion, which major 1 stored as a string, to an integer, in a new file
  check            probe a running host for violations of the versioning rules
  callers          list the callers that still use major 1, from the logs of a host or from a running host
  mirror           list the differences between the majors that a running host has found

svc-versioning COMMAND --help describes a command, svc-versioning --version prints the version.
`;

const COMMANDS: ReadonlyMap<
  string,
  { readonly help: string; readonly run: (args: readonly string[], terminal: Terminal) => Promise<number> }
> = new Map([
  ['engine-version', { help: ENGINE_VERSION_HELP, run: engineVersionCommand }],
  ['callers', { help: CALLERS_HELP, run: callersCommand }],
  ['mirror', { help: MIRROR_HELP, run: mirrorCommand }],
  ['check', { help: CHECK_HELP, run: checkCommand }],
]);

/** Runs `svc-versioning` with its arguments and returns the exit code. */
export async function svcVersioning([name = '', ...args]: readonly string[], terminal: Terminal): Promise<number> {
  if (name === '--version') {
    terminal.stdout.write(`svc-versioning ${VERSION}\n`);
    return 0;
  }
  const command = COMMANDS.get(name);
  if (command === undefined) {
    const isHelp = ['--help', '-h', 'help'].includes(name);
    if (name !== '' && !isHelp) terminal.stderr.write(`svc-versioning: unknown command "${name}".\n`);
    (isHelp ? terminal.stdout : terminal.stderr).write(HELP);
    return isHelp ? 0 : 2;
  }
  if (args.includes('--help') || args.includes('-h')) {
    terminal.stdout.write(command.help);
    return 0;
  }
  try {
    return await command.run(args, terminal);
  } catch (error) {
    // parseArgs throws a TypeError for an unknown option.
    if (!(error instanceof UsageError || error instanceof TypeError)) throw error;
    terminal.stderr.write(
      `svc-versioning ${name}: ${error.message}\nsvc-versioning ${name} --help describes the arguments.\n`,
    );
    return 2;
  }
}
