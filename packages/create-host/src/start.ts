import { fileURLToPath } from 'node:url';
import { createProject } from './create-project.ts';
import { VERSION } from './version.ts';

process.exitCode = await createProject(process.argv.slice(2), process, {
  name: 'create-host',
  command: 'npm create @svc/host',
  noun: 'host of workflow runs',
  templates: fileURLToPath(new URL('../templates', import.meta.url)),
  version: VERSION,
});
