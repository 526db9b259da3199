import { svcVersioning } from './command.ts';

const { argv, stdout, stderr, env } = process;
process.exitCode = await svcVersioning(argv.slice(2), { stdout, stderr, fetch, environment: env });
