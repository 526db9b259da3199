import { readFileSync } from 'node:fs';
import { type ParsedConfig, parseConfig } from './config.ts';
import { surroundingProblems } from './config-surroundings.ts';

/** Reads and checks a configuration, together with the files and the address that it names. */
export async function readConfig(file: string): Promise<ParsedConfig> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return { ok: false, problems: [`${file}: cannot be read. Check the path and its permissions.`] };
  }
  const parsed = parseConfig(text);
  if (!parsed.ok) return parsed;
  const problems = await surroundingProblems(parsed.config);
  return problems.length === 0 ? parsed : { ok: false, problems };
}
