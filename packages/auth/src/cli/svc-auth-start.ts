import { svcAuth } from './svc-auth-command.ts';

const { argv, stdin, stdout, stderr } = process;
process.exitCode = await svcAuth(argv.slice(2), { stdin, stdout, stderr, now: Date.now });
