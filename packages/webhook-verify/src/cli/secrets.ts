import { readFile } from 'node:fs/promises';
import { type Terminal, UsageError } from './terminal.ts';

export const SECRET_OPTIONS = {
  secret: { type: 'string', multiple: true },
  'secret-file': { type: 'string', multiple: true },
} as const;

export const SECRET_HELP: string = `  --secret-file FILE   a file with the secret, may be repeated
  --secret TEXT        the secret itself, may be repeated; other users of the machine can see it in the process list
                       Without either: the environment variable SVC_WEBHOOK_SECRET`;

/** Collects the secrets from the options, or else from the environment. @throws {UsageError} when there is none */
export async function givenSecrets(
  values: { readonly secret?: string[] | undefined; readonly 'secret-file'?: string[] | undefined },
  { env }: Terminal,
): Promise<string[]> {
  const secrets = [...(values.secret ?? [])];
  for (const path of values['secret-file'] ?? []) {
    const text = await readFile(path, 'utf8').catch(() => {
      throw new UsageError(`--secret-file: ${path} cannot be read. Pass the path of a readable file.`);
    });
    // Editors end a file with a newline; no secret ends with one.
    secrets.push(text.replace(/\r?\n$/, ''));
  }
  if (secrets.length === 0 && env.SVC_WEBHOOK_SECRET) secrets.push(env.SVC_WEBHOOK_SECRET);
  if (secrets.length === 0)
    throw new UsageError('secret: is missing. Set SVC_WEBHOOK_SECRET, or pass --secret-file FILE.');
  return secrets;
}
