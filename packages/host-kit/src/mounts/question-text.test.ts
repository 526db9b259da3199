import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { questionText } from './question-text.ts';

test.each<[string, JsonObject, string | undefined]>([
  ['an approval', { title: 'Ship it?', actions: ['accept'] }, 'Ship it?'],
  [
    'a clarification',
    {
      questions: [
        { id: 'a', question: 'Which?' },
        { id: 'b', question: 'When?' },
      ],
    },
    'Which?\nWhen?',
  ],
  ['an exchange', { conversationId: 'c', prompt: 'And then?' }, 'And then?'],
  ['the start of a conversation', { conversationId: 'c', title: 'Help', initialPrompt: 'Hi' }, 'Help\nHi'],
  ['a custom question', { customKind: 'x', payload: {} }, undefined],
])('the text of %s', (_, data, text) => {
  expect(questionText({ kind: 'any', key: 'k', data })).toBe(text);
});
