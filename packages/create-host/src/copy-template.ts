import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Copies a template into a folder, and names the package, and the worker if it is one.
 *
 * npm leaves files such as `.gitignore` out of a package, so in a template a leading dot is written as an underscore.
 *
 * @param name of the new package
 */
export function copyTemplate(template: string, folder: string, name: string): void {
  mkdirSync(folder, { recursive: true });
  cpSync(template, folder, { recursive: true });
  for (const file of readdirSync(template)) {
    if (file.startsWith('_')) renameSync(join(folder, file), join(folder, file.replace('_', '.')));
  }
  const path = join(folder, 'package.json');
  const manifest: Record<string, unknown> = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, `${JSON.stringify({ ...manifest, name }, null, 2)}\n`);
  // Two workers of one name replace each other.
  const worker = join(folder, 'wrangler.jsonc');
  if (existsSync(worker))
    writeFileSync(worker, readFileSync(worker, 'utf8').replace(/^ {2}"name": ".*"/m, `  "name": "${name}"`));
}
