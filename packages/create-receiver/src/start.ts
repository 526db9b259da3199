import { fileURLToPath } from 'node:url';
import { createProject } from '@svc/create-host';
import { VERSION } from './version.ts';

process.exitCode = await createProject(process.argv.slice(2), process, {
  name: 'create-receiver',
  command: 'npm create @svc/receiver',
  noun: 'receiver of webhooks',
  templates: fileURLToPath(new URL('../templates', import.meta.url)),
  version: VERSION,
});
