import { svcDebugBundle } from './command.ts';

const { argv, stdout, stderr } = process;
process.exitCode = await svcDebugBundle(argv.slice(2), { stdout, stderr, fetch });
