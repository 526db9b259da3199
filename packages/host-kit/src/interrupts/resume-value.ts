import { z } from 'zod';
import { type FieldProblem, invalid } from '../errors.ts';
import { fieldProblems } from '../field-problems.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { Interrupt } from '../ports/interrupts.ts';
import { APPROVAL_ACTIONS, type ApprovalData, questionsOf } from './request.ts';
import { requireFitting } from './resume-schema.ts';

/** A complete answer to an approval, in the vocabulary of major 2. */
export interface ApprovalAnswer extends JsonObject {
  readonly action: (typeof APPROVAL_ACTIONS)[number];
  readonly feedback?: string;
  readonly refineFeedback?: JsonObject;
  readonly editedArtifactData?: Json;
  readonly decidedBy: string;
  readonly decidedAt: string;
}

/**
 * Validates an answer to a question other than an approval, and returns it. A question of a clarification that has a
 * schema must be answered: by the member of its id in `resumeValue.answers` or, without this member, in `resumeValue`.
 *
 * @throws {HostError} `validation_error`
 */
export function checkedAnswer(interrupt: Interrupt, resumeValue: Json): Json {
  const { resumeSchema } = interrupt;
  if (resumeSchema !== undefined) requireFitting(resumeSchema, resumeValue);
  const questions = questionsOf(interrupt);
  const place = placeOfAnswers(questions, resumeValue);
  for (const { id, schema } of questions) {
    const answer = Object.hasOwn(place.answers, id) ? place.answers[id] : undefined;
    if (schema !== undefined) requireFitting(schema, answer, `${place.field}.${id}`);
  }
  return resumeValue;
}

function placeOfAnswers(questions: readonly { readonly id: string }[], resumeValue: Json) {
  const members = isJsonObject(resumeValue) ? resumeValue : {};
  const { answers } = members;
  if (!isJsonObject(answers) || questions.some(({ id }) => id === 'answers')) {
    return { field: 'resumeValue', answers: members };
  }
  return { field: 'resumeValue.answers', answers };
}

/**
 * Validates an answer to an approval, and completes it with its author and time. Older clients send `decision` instead
 * of `action`, and `edit` instead of `edit-accept`.
 *
 * @throws {HostError} `validation_error`
 */
export function checkedApproval(
  { resumeSchema }: Pick<Interrupt, 'resumeSchema'>,
  { actions }: ApprovalData,
  resumeValue: Json,
  decided: { readonly by: string; readonly at: number },
): ApprovalAnswer {
  const given = inTodaysWords(resumeValue, actions);
  // Before the schema, which would tell actions that this approval does not offer.
  requireOffered(actions, given);
  const parsed = ANSWER.safeParse(given);
  if (!parsed.success) {
    const problems = fieldProblems(ANSWER, given, parsed.error, { root: 'resumeValue', remedies: REMEDIES });
    const [first = NOT_AN_ANSWER, ...others] = problems;
    throw invalid(first, ...others);
  }
  const { action, ...said } = parsed.data;
  for (const [needed, field] of NEEDS) {
    if (action === needed && said[field] === undefined) {
      throw invalid({ field: `resumeValue.${field}`, problem: `is required for the action ${action}` });
    }
  }
  const answer: ApprovalAnswer = JSON.parse(
    JSON.stringify({
      action,
      ...said,
      decidedBy: said.decidedBy ?? decided.by,
      decidedAt: said.decidedAt ?? new Date(decided.at).toISOString(),
    }),
  );
  if (resumeSchema !== undefined) requireFitting(resumeSchema, answer);
  return answer;
}

function requireOffered(offered: ApprovalData['actions'], given: Json): void {
  if (!isJsonObject(given) || given.action === undefined || offered.some((action) => action === given.action)) return;
  throw invalid({ field: 'resumeValue.action', problem: `is not offered; choose one of ${offered.join(', ')}` });
}

const NEEDS = [
  ['refine', 'refineFeedback'],
  ['edit-accept', 'editedArtifactData'],
] as const;

const text = z.string().max(65_536);

const ANSWER = z.strictObject({
  action: z.enum(APPROVAL_ACTIONS),
  feedback: text.optional(),
  refineFeedback: z
    .strictObject({
      scope: z.enum(['whole', 'section', 'items']),
      sectionPath: text.optional(),
      itemIds: z.array(text).optional(),
      tags: z.array(text).optional(),
      text: text.optional(),
    })
    .optional(),
  editedArtifactData: z.json().optional(),
  // The log stores it, so it must not be a person's name or address.
  decidedBy: z
    .string()
    .regex(/^[^\s@/\p{C}]{1,256}$/u, 'must be an opaque id: 1 to 256 characters without white space, @ and /')
    .optional(),
  decidedAt: z.iso.datetime({ offset: true }).optional(),
});

const REMEDIES = { 'resumeValue.action': 'An approval is answered with {"resumeValue":{"action":"accept"}}' };

const NOT_AN_ANSWER: FieldProblem = {
  field: 'resumeValue',
  problem: 'must be an answer to an approval: an object with an action',
};

function inTodaysWords(resumeValue: Json, offered: ApprovalData['actions']): Json {
  if (!isJsonObject(resumeValue)) return resumeValue;
  const value: JsonObject = { ...resumeValue };
  if (value.action === 'edit') return { ...value, action: 'edit-accept' };
  if (value.action !== undefined || value.decision === undefined) return value;
  const { decision, ...said } = value;
  if (decision === 'approved') return { ...said, action: 'accept' };
  if (decision !== 'rejected') return { ...said, action: decision };
  // A rejection with feedback meant a refinement, where the approval offers one.
  const { feedback, refineFeedback } = said;
  if ((feedback === undefined && refineFeedback === undefined) || !offered.includes('refine'))
    return { ...said, action: 'reject' };
  return { ...said, action: 'refine', refineFeedback: refineFeedback ?? { scope: 'whole', text: feedback ?? '' } };
}
