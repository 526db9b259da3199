import { readEngineVersion } from '../axes/index.ts';
import { afterSpace, elementsOf, membersOf, type TextSpan } from './json-text.ts';

/** The conversion of one document. */
export type Converted =
  /** The text with integers, and the number of tokens that were replaced. Every other character is that of the input. */
  | { readonly ok: true; readonly text: string; readonly replaced: number }
  /** The document is invalid, or has an `engineVersion` that is no integer. */
  | { readonly ok: false; readonly problem: string };

/**
 * Replaces the strings that major 1 stored as `engineVersion` by integers, in the text itself. These carriers are read:
 * a run document, a delivery body, an event, and the payload of `run.started`. Every other `engineVersion` belongs to
 * the workflow.
 *
 * @param text a document, or a list of documents
 * @see Interface: Version axes, 3
 */
export function withIntegerEngineVersions(text: string): Converted {
  if (!isJson(text)) return { ok: false, problem: 'is not valid JSON. Repair it and run again.' };
  const start = afterSpace(text, 0);
  const documents = text[start] === '[' ? [...elementsOf(text, start)] : [{ start, end: text.length }];
  let converted = '';
  let copied = 0;
  let replaced = 0;
  for (const token of documents.flatMap((document) => [...documentTokens(text, document)])) {
    const value: unknown = JSON.parse(text.slice(token.start, token.end));
    const integer = readEngineVersion(value);
    if (integer === undefined) return { ok: false, problem: notAnInteger(text, token) };
    if (integer === value) continue;
    converted += text.slice(copied, token.start) + integer;
    copied = token.end;
    replaced++;
  }
  return { ok: true, text: converted + text.slice(copied), replaced };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function notAnInteger(text: string, { start, end }: TextSpan): string {
  const shown = text.slice(start, Math.min(end, start + 80));
  return `engineVersion is ${shown}, not an integer of at least 0. Correct it and run again.`;
}

/** A run document with its events, a delivery body with its event, or an event. */
function* documentTokens(text: string, document: TextSpan): Generator<TextSpan> {
  const members = [...membersOf(text, document.start)];
  // A list of events has a name of its own in a run, where `payload` would be the workflow's.
  const isStart = isRunStarted(text, members);
  for (const member of members) {
    if (member.name === 'engineVersion') yield member;
    else if (member.name === 'event') yield* eventTokens(text, member);
    else if (member.name === 'events')
      for (const event of elementsOf(text, member.start)) yield* eventTokens(text, event);
    else if (member.name === 'payload' && isStart) yield* ownTokens(text, member);
  }
}

function* eventTokens(text: string, event: TextSpan): Generator<TextSpan> {
  const members = [...membersOf(text, event.start)];
  const isStart = isRunStarted(text, members);
  for (const member of members) {
    if (member.name === 'engineVersion') yield member;
    else if (member.name === 'payload' && isStart) yield* ownTokens(text, member);
  }
}

function* ownTokens(text: string, { start }: TextSpan): Generator<TextSpan> {
  for (const member of membersOf(text, start)) if (member.name === 'engineVersion') yield member;
}

/** The only event whose payload carries the version of the engine. */
function isRunStarted(text: string, members: readonly (TextSpan & { readonly name: string })[]): boolean {
  const type = members.findLast(({ name }) => name === 'type');
  return type !== undefined && JSON.parse(text.slice(type.start, type.end)) === 'run.started';
}
