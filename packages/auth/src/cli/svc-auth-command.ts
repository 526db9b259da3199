import { explainCommand } from '../explain/command.ts';
import type { ExplainTerminal } from '../explain/terminal.ts';
import { VERSION } from '../package-version.ts';
import { lanesOf } from './lanes-file.ts';

const HELP = `Usage: svc-auth COMMAND [OPTIONS]

Commands:
  explain   tell why a captured request is refused

svc-auth COMMAND --help describes a command, svc-auth --version prints the version.
`;

/** Runs `svc-auth` with its arguments and returns the exit code. */
export async function svcAuth([name = '', ...args]: readonly string[], terminal: ExplainTerminal): Promise<number> {
  if (name === '--version') {
    terminal.stdout.write(`svc-auth ${VERSION}\n`);
    return 0;
  }
  if (name === 'explain') return explainCommand(args, terminal, { name: 'svc-auth explain', lanesOf });
  const isHelp = ['--help', '-h', 'help'].includes(name);
  if (name !== '' && !isHelp) terminal.stderr.write(`svc-auth: unknown command ${JSON.stringify(name)}.\n`);
  (isHelp ? terminal.stdout : terminal.stderr).write(HELP);
  return isHelp ? 0 : 2;
}
