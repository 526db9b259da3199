import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { protocol } from '../data/api.ts';
import type { Json } from '../data/shapes.ts';
import { type AnswerForm, answerForm, type Field, typedValue } from '../model/answer-form.ts';
import type { Question } from '../model/timeline.ts';
import { shownJson, visibleText } from '../model/visible-text.ts';
import { type Action, ActionError, useAction } from '../parts/action.tsx';
import { capitalized } from '../parts/words.tsx';

/** The question of a run, with the form that answers it. */
export function AnswerCard(given: {
  readonly question: Question;
  readonly path: string;
  readonly onAnswered: () => void;
}): VNode {
  const { question, path, onAnswered } = given;
  const action = useAction();
  const form = answerForm(question);
  const answer = (resumeValue: Json) =>
    void action.run(async () => {
      await protocol('POST', `${path}/interrupts/${encodeURIComponent(question.nodeId)}`, { resumeValue });
      onAnswered();
    });
  return (
    <section class="card question" aria-labelledby="question">
      <h2 id="question">{titleOf(form, question.nodeId)}</h2>
      {form.kind === 'approval' && <Approval actions={form.actions} action={action} answer={answer} />}
      {form.kind === 'clarification' && <Clarification fields={form.fields} action={action} answer={answer} />}
      {form.kind === 'json' && <JsonAnswer action={action} answer={answer} />}
      <ActionError action={action} />
      <details>
        <summary>The question as the run asked it</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls must be reachable by the keyboard */}
        <pre tabIndex={0}>{shownJson(question.data).text}</pre>
      </details>
    </section>
  );
}

function titleOf(form: AnswerForm, nodeId: string): string {
  if (form.kind === 'approval') return visibleText(form.title);
  if (form.kind === 'clarification') return 'The run asks';
  return `The run waits for ${visibleText(form.hint)} at ${visibleText(nodeId)}`;
}

interface Answering {
  readonly action: Action;
  readonly answer: (value: Json) => void;
}

function Approval({ actions, action, answer }: Answering & { readonly actions: readonly string[] }): VNode {
  const [feedback, setFeedback] = useState('');
  return (
    <form class="fields" onSubmit={(event) => event.preventDefault()}>
      <label for="feedback">Feedback (optional)</label>
      <textarea id="feedback" rows={2} value={feedback} onInput={(event) => setFeedback(event.currentTarget.value)} />
      <p class="actions">
        {actions.map((name) => (
          <button
            key={name}
            type="button"
            class={name === 'accept' ? 'primary' : ''}
            disabled={action.isBusy}
            onClick={() => answer({ action: name, ...(feedback !== '' && { feedback }) })}
          >
            {capitalized(visibleText(name))}
          </button>
        ))}
      </p>
    </form>
  );
}

function Clarification({ fields, action, answer }: Answering & { readonly fields: readonly Field[] }): VNode {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const data = new FormData(event.currentTarget);
    const answers = fields.map(({ name, choices }, index) => {
      const text = String(data.get(`field-${index}`) ?? '');
      return [name, choices === undefined ? typedValue(text) : text] as const;
    });
    answer({ answers: Object.fromEntries(answers) });
  };
  return (
    <form class="fields" onSubmit={submit}>
      {fields.map(({ name, label, choices, hint }, index) => (
        <p key={name}>
          <label for={`field-${index}`}>{visibleText(label)}</label>
          {choices === undefined ? (
            <input
              id={`field-${index}`}
              name={`field-${index}`}
              required
              aria-describedby={hint === undefined ? undefined : `hint-${index}`}
            />
          ) : (
            <select id={`field-${index}`} name={`field-${index}`}>
              {choices.map((choice) => (
                <option key={choice} value={choice}>
                  {visibleText(choice)}
                </option>
              ))}
            </select>
          )}
          {hint !== undefined && (
            <span id={`hint-${index}`} class="quiet">
              {visibleText(hint)}
            </span>
          )}
        </p>
      ))}
      <p class="actions">
        <button type="submit" class="primary" disabled={action.isBusy}>
          Answer
        </button>
      </p>
    </form>
  );
}

function JsonAnswer({ action, answer }: Answering): VNode {
  const [text, setText] = useState('{}');
  const submit = (event: Event) => {
    event.preventDefault();
    answer(typedValue(text));
  };
  return (
    <form class="fields" onSubmit={submit}>
      <label for="json">The answer, as JSON</label>
      <textarea
        id="json"
        rows={4}
        spellcheck={false}
        required
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <p class="actions">
        <button type="submit" class="primary" disabled={action.isBusy}>
          Answer
        </button>
      </p>
    </form>
  );
}
