import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import { questionText } from '../question-text.ts';

/** A question as an elicitation in form mode: a flat form, and the answer that its content stands for. */
export interface AnswerForm {
  readonly message: string;
  readonly requestedSchema: JsonObject;
  /** Makes the value with which the run resumes, of the content of a form that a person has sent. */
  readonly resumeValue: (content: JsonObject) => Json;
}

/**
 * Returns the form of a question. Undefined for a question whose answer does not fit a flat form: an approval that
 * offers neither `accept` nor `reject`, an answer with nested members, and a kind that people do not answer.
 *
 * @param question in the form of major 2
 * @see MCP 2026-07-28, Elicitation, requested schema
 */
export function answerForm(question: JsonObject): AnswerForm | undefined {
  const { kind, data, resumeSchema } = question;
  const message = questionText(question) ?? `The run asks for ${String(kind)}.`;
  if (!isJsonObject(data) || kind === 'external-event') return undefined;
  if (kind === 'approval') return approvalForm(message, data);
  if (kind === 'clarification') return clarificationForm(message, data);
  const requestedSchema = formSchema(resumeSchema);
  return requestedSchema && { message, requestedSchema, resumeValue: (content) => content };
}

/** A decision of the person is a field of its own: that a form is declined must not reject anything. */
function approvalForm(message: string, { actions, description }: JsonObject): AnswerForm | undefined {
  const offered = Array.isArray(actions) ? actions.filter((action) => DECISIONS.includes(action)) : [];
  if (offered.length === 0) return undefined;
  const requestedSchema = {
    type: 'object',
    properties: {
      action: { type: 'string', title: 'Decision', enum: offered },
      feedback: { type: 'string', title: 'Reason', maxLength: 65_536 },
    },
    required: ['action'],
  };
  const told = typeof description === 'string' ? `${message}\n${description}` : message;
  return { message: told, requestedSchema, resumeValue: (content) => content };
}

/** The actions that need no more than a text. */
const DECISIONS: readonly (Json | undefined)[] = ['accept', 'reject'];

/** One field for each question, by its id. The host demands an answer to each question that has a schema. */
function clarificationForm(message: string, { questions }: JsonObject): AnswerForm | undefined {
  const asked = Array.isArray(questions) ? questions.filter(isJsonObject) : [];
  const fields = asked.map(({ id, question, schema }) => {
    const field = schema === undefined ? { type: 'string' } : fieldOf(schema);
    return {
      id: String(id),
      field: field && { ...field, description: question ?? '' },
      isRequired: schema !== undefined,
    };
  });
  const properties: Record<string, JsonObject> = {};
  for (const { id, field } of fields) {
    if (field === undefined) return undefined;
    properties[id] = field;
  }
  const required = fields.filter(({ isRequired }) => isRequired).map(({ id }) => id);
  const requestedSchema = { type: 'object', properties, ...(required.length > 0 && { required }) };
  return { message, requestedSchema, resumeValue: (content) => ({ answers: content }) };
}

/** The schema as the schema of a form. Undefined when it is not that of an object of plain members. */
function formSchema(schema: Json | undefined): JsonObject | undefined {
  if (!isJsonObject(schema) || schema.type !== 'object' || !isJsonObject(schema.properties)) return undefined;
  const properties: Record<string, JsonObject> = {};
  for (const [name, member] of Object.entries(schema.properties)) {
    const field = fieldOf(member);
    if (field === undefined) return undefined;
    properties[name] = field;
  }
  const { required } = schema;
  return { type: 'object', properties, ...(Array.isArray(required) && { required }) };
}

/**
 * A field of a form by its JSON Schema, with the keywords that a form knows. Undefined for a schema whose values are no
 * text, number, boolean or choice of texts. The host validates the answer by the whole schema.
 */
function fieldOf(schema: Json | undefined): JsonObject | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { type, items } = schema;
  if (isChoice(schema)) return { type: 'string', ...kept(schema, ['enum']) };
  if (type === 'array') {
    if (!isJsonObject(items) || !isChoice(items)) return undefined;
    const choice = { type: 'string', ...kept(items, ['enum']) };
    return { type, items: choice, ...kept(schema, ['minItems', 'maxItems']) };
  }
  const keywords = typeof type === 'string' ? KEYWORDS.get(type) : undefined;
  if (keywords === undefined || 'enum' in schema) return undefined;
  return { type: type ?? '', ...kept(schema, keywords) };
}

function isChoice({ type, enum: values }: JsonObject): boolean {
  const isOfText = type === undefined || type === 'string';
  return isOfText && Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === 'string');
}

const NUMBER = ['minimum', 'maximum'];
const KEYWORDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['string', ['minLength', 'maxLength', 'format']],
  ['number', NUMBER],
  ['integer', NUMBER],
  ['boolean', []],
]);
/** The formats that a form knows. */
const FORMATS: readonly (Json | undefined)[] = ['email', 'uri', 'date', 'date-time'];

function kept(schema: JsonObject, keywords: readonly string[]): JsonObject {
  return Object.fromEntries(
    ['title', 'description', 'default', ...keywords].flatMap((keyword) => {
      const value = schema[keyword];
      const isUnknown = value === undefined || (keyword === 'format' && !FORMATS.includes(value));
      return isUnknown ? [] : [[keyword, value] as const];
    }),
  );
}
