import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { answerForm } from './answer-form.ts';

const approval = (actions: string[]): JsonObject => ({ kind: 'approval', data: { title: 'Ship it?', actions } });
const clarification = (...questions: JsonObject[]): JsonObject => ({ kind: 'clarification', data: { questions } });
const custom = (properties: JsonObject): JsonObject => ({
  ...{ kind: 'custom', data: { customKind: 'x' } },
  resumeSchema: { type: 'object', properties, required: ['a'] },
});

describe('the form of a question', () => {
  test('of an approval has the decision as a field', () => {
    const form = answerForm(approval(['accept', 'reject', 'refine', 'edit-accept', 'ask']));
    expect(form).toMatchObject({ message: 'Ship it?', requestedSchema: { required: ['action'] } });
    expect(form?.requestedSchema.properties).toMatchObject({ action: { enum: ['accept', 'reject'] } });
    expect(form?.resumeValue({ action: 'reject' })).toEqual({ action: 'reject' });
  });

  test('of a clarification has a field for each question, and demands those with a schema', () => {
    const form = answerForm(
      clarification({ id: 'colour', question: 'Which?', schema: { enum: ['red'] } }, { id: 'why', question: 'Why?' }),
    );
    expect(form?.requestedSchema).toEqual({
      type: 'object',
      properties: {
        colour: { type: 'string', enum: ['red'], description: 'Which?' },
        why: { type: 'string', description: 'Why?' },
      },
      required: ['colour'],
    });
    expect(form?.resumeValue({ colour: 'red' })).toEqual({ answers: { colour: 'red' } });
  });

  test('of another kind is its resumeSchema, with the keywords that a form knows', () => {
    const a = { type: 'string', minLength: 1, pattern: '^x', format: 'hostname' };
    const form = answerForm(custom({ a, b: { type: 'array', items: { enum: ['x'] }, maxItems: 2 } }));
    expect(form?.requestedSchema).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string', minLength: 1 },
        b: { type: 'array', items: { type: 'string', enum: ['x'] }, maxItems: 2 },
      },
      required: ['a'],
    });
  });

  test.each<[string, JsonObject]>([
    ['an approval without accept and reject', approval(['refine'])],
    ['a question with a nested answer', clarification({ id: 'q', schema: { type: 'object', properties: {} } })],
    ['a question of numbers to choose from', clarification({ id: 'q', schema: { type: 'integer', enum: [1] } })],
    ['an answer with a nested member', custom({ a: { type: 'array', items: { type: 'number' } } })],
    ['an answer without a schema', { kind: 'custom', data: { customKind: 'x' } }],
    ['an event of another system', { ...custom({ a: { type: 'string' } }), kind: 'external-event' }],
  ])('does not exist for %s', (_, question) => expect(answerForm(question)).toBeUndefined());
});

test('each field of a form is a text, a number, a boolean or a choice of texts, for every schema', () => {
  const keyword = fc.constantFrom('type', 'enum', 'items', 'format', 'minimum', 'properties', '$ref', 'title');
  const word = fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object', 'null');
  const { schema } = fc.letrec<{ schema: JsonObject; value: JsonObject[string] }>((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, word, fc.array(word), tie('schema'), fc.integer(), fc.boolean()),
    schema: fc.dictionary(keyword, tie('value'), { maxKeys: 4 }),
  }));
  const properties = fc.dictionary(fc.string(), schema, { maxKeys: 3 });
  fc.assert(
    fc.property(properties, (members) => {
      const form = answerForm(custom(members));
      if (form === undefined) return;
      const { properties: fields } = form.requestedSchema;
      for (const field of Object.values(isJsonObject(fields) ? fields : {})) {
        expect(field).toMatchObject({ type: expect.stringMatching(/^(string|number|integer|boolean|array)$/) });
        expect(Object.keys(isJsonObject(field) ? field : {})).not.toContain('properties');
      }
    }),
  );
});
