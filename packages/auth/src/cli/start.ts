import { svcAudit } from './command.ts';

const { argv, stdout, stderr } = process;
process.exitCode = await svcAudit(argv.slice(2), { stdout, stderr });
