import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import type { JsonObject } from '../json.ts';
import { type KeyAnswer, type Terminal, UsageError } from './terminal.ts';

/** A new file for a key. */
export interface ReservedFile {
  readonly path: string;
  write(text: string): void;
  /** Removes the file. */
  discard(): void;
}

/** Makes a file with mode 0600. @throws {UsageError} when there is one already, or it cannot be made */
export function reservedFile(path: string): ReservedFile {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'wx', 0o600);
  } catch {
    throw new UsageError(`--out: ${path} exists already, or cannot be made. Name a new file.`);
  }
  return {
    path,
    write(text) {
      writeSync(descriptor, text);
      closeSync(descriptor);
    },
    discard() {
      closeSync(descriptor);
      unlinkSync(path);
    },
  };
}

/**
 * Shows a key once: in the file, with its id on stdout, or on stdout alone. The record goes to stderr, so that stdout can be
 * piped.
 */
export function shownKey(
  { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>,
  { json, file }: { readonly json: boolean; readonly file: ReservedFile | undefined },
  { key, ...answer }: KeyAnswer,
): void {
  file?.write(`${key}\n`);
  if (json) {
    const shown = file === undefined ? { ...answer, key } : { ...answer, out: file.path };
    stdout.write(`${JSON.stringify(shown)}\n`);
    return;
  }
  const record: JsonObject = Object(answer.apiKey);
  stdout.write(`${file === undefined ? key : record.id}\n`);
  const line = lineOf(record);
  stderr.write(file === undefined ? `${line}\nThe key is shown once.\n` : `${line}\nThe key is in ${file.path}.\n`);
}

/** Shows a record, one line each. */
export function shownRecord(
  { stdout }: Pick<Terminal, 'stdout'>,
  { json }: { readonly json: boolean },
  record: JsonObject,
): void {
  stdout.write(`${json ? JSON.stringify(record) : lineOf(record)}\n`);
}

function lineOf(record: JsonObject): string {
  const { id, state, name, principal, scopes, prefix, expiresAt } = record;
  const ends = typeof expiresAt === 'string' ? `until ${expiresAt}` : 'no expiry';
  const list = Array.isArray(scopes) ? scopes.join(',') : '';
  const parts = [id, state, JSON.stringify(name), principal, list, prefix ?? '-', ends, ...quotaOf(record)];
  return plain(parts.join('  '));
}

/** Such as `quota 12/1000 a day`. */
function quotaOf({ quota }: JsonObject): string[] {
  const { limit, period, used } = Object(quota);
  return quota === undefined ? [] : [`quota ${used ?? '-'}/${limit} a ${period}`];
}

/** Replaces control characters, which would act on the terminal. */
export function plain(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}
