import { svcKeys } from './command.ts';

const { argv, env, stdout, stderr } = process;
process.exitCode = await svcKeys(argv.slice(2), { stdout, stderr, fetch, environment: env });
