import { VERSION } from '../version.ts';
import { LISTEN_HELP, listenCommand } from './listen.ts';
import { SIGN_HELP, signCommand } from './sign.ts';
import { type Terminal, UsageError } from './terminal.ts';
import { VERIFY_HELP, verifyCommand } from './verify.ts';

const HELP = `Usage: svc-webhook COMMAND [OPTIONS]

Commands:
  verify   tell which verification step of a captured delivery fails
  sign     print the delivery headers for a body
  listen   listen on a port, verify and print each delivery

Run svc-webhook COMMAND --help for its options, svc-webhook --version for the version.
`;

const COMMANDS: ReadonlyMap<
  string,
  { readonly help: string; readonly run: (args: readonly string[], terminal: Terminal) => Promise<number> }
> = new Map([
  ['verify', { help: VERIFY_HELP, run: verifyCommand }],
  ['sign', { help: SIGN_HELP, run: signCommand }],
  ['listen', { help: LISTEN_HELP, run: listenCommand }],
]);

/**
 * Runs the command line: `svc-webhook verify | sign | listen`.
 *
 * @returns the exit code
 */
export async function svcWebhook([name = '', ...args]: readonly string[], terminal: Terminal): Promise<number> {
  if (name === '--version') {
    terminal.stdout.write(`svc-webhook ${VERSION}\n`);
    return 0;
  }
  const command = COMMANDS.get(name);
  if (command === undefined) {
    const isHelp = ['--help', '-h', 'help'].includes(name);
    if (name !== '' && !isHelp) terminal.stderr.write(`svc-webhook: there is no command "${name}".\n`);
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
    if (!isWrongUse(error)) throw error;
    terminal.stderr.write(`svc-webhook ${name}: ${error.message}\nRun svc-webhook ${name} --help for its options.\n`);
    return 2;
  }
}

/**
 * Recognises errors of usage: ours, and the TypeErrors of `parseArgs` and of the library for the value of an option.
 */
function isWrongUse(error: unknown): error is Error {
  return error instanceof UsageError || error instanceof TypeError;
}
