import { VERSION } from '../package-version.ts';
import { EXPORT_HELP, exportCommand } from './export.ts';
import { type Terminal, UsageError } from './terminal.ts';
import { VERIFY_HELP, verifyCommand } from './verify.ts';

const HELP = `Usage: svc-audit COMMAND [OPTIONS]

Commands:
  export   write the audit entries of a tenant from a running host, with their proofs
  verify   verify an exported audit log with the public key alone

svc-audit COMMAND --help describes a command, svc-audit --version prints the version.
`;

/** Runs `svc-audit` with its arguments and returns the exit code. */
export async function svcAudit([name = '', ...args]: readonly string[], terminal: Terminal): Promise<number> {
  if (name === '--version') {
    terminal.stdout.write(`svc-audit ${VERSION}\n`);
    return 0;
  }
  const command = COMMANDS.get(name);
  if (command === undefined) {
    const isHelp = ['--help', '-h', 'help'].includes(name);
    if (name !== '' && !isHelp) terminal.stderr.write(`svc-audit: unknown command ${JSON.stringify(name)}.\n`);
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
    terminal.stderr.write(`svc-audit ${name}: ${error.message}\nsvc-audit ${name} --help describes the arguments.\n`);
    return 2;
  }
}

const COMMANDS: ReadonlyMap<string, { readonly help: string; readonly run: typeof verifyCommand }> = new Map([
  ['export', { help: EXPORT_HELP, run: exportCommand }],
  ['verify', { help: VERIFY_HELP, run: verifyCommand }],
]);
