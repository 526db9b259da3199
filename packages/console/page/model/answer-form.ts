import type { Json } from '../data/shapes.ts';
import { isObject, type Question } from './timeline.ts';

/** One field of the form that answers a question. */
export interface Field {
  readonly name: string;
  readonly label: string;
  /** The allowed values. Absent: any text. */
  readonly choices?: readonly string[];
  readonly hint?: string;
}

/** A form for the answer of a question. */
export type AnswerForm =
  /** An approval: one button for each action, and a text. */
  | { readonly kind: 'approval'; readonly title: string; readonly actions: readonly string[] }
  /** A clarification: one field for each question. */
  | { readonly kind: 'clarification'; readonly fields: readonly Field[] }
  /** Anything else: JSON. */
  | { readonly kind: 'json'; readonly hint: string };

/** Returns the form for a question. */
export function answerForm({ kind, data }: Pick<Question, 'kind' | 'data'>): AnswerForm {
  if (kind === 'approval') {
    return { kind, title: textIn(data.title) ?? 'Is it good?', actions: textsIn(data.actions) ?? ['accept', 'reject'] };
  }
  const questions = Array.isArray(data.questions) ? data.questions.filter(isObject) : [];
  if (kind === 'clarification' && questions.length > 0) return { kind, fields: questions.map(fieldOf) };
  const hint = textIn(data.eventType) ?? kind;
  return { kind: 'json', hint };
}

function fieldOf(question: { readonly [name: string]: Json }, index: number): Field {
  const schema = isObject(question.schema) ? question.schema : {};
  const choices = textsIn(schema.enum);
  const name = textIn(question.id) ?? String(index);
  const hint = textIn(question.hint);
  return {
    name,
    label: textIn(question.question) ?? name,
    ...(choices !== undefined && { choices }),
    ...(hint !== undefined && { hint }),
  };
}

/**
 * Reads what a person typed as the value of an answer: JSON where the text is JSON, and otherwise the text itself. A text in
 * quotes stays a text.
 */
export function typedValue(text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function textsIn(value: Json | undefined): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  return value.every((entry: Json) => typeof entry === 'string') ? value : undefined;
}
