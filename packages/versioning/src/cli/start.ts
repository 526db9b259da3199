import { svcVersioning } from './command.ts';

const { argv, stdout, stderr } = process;
process.exitCode = await svcVersioning(argv.slice(2), { stdout, stderr, fetch });
