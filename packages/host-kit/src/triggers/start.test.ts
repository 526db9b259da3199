import { describe, expect, test } from 'vitest';
import { refusedAt } from './start.ts';

describe('the reason of a refused run', () => {
  test.each([
    ['workflowId', 'run: was refused at workflowId'],
    ['inputs.order', 'run: was refused at inputs.order'],
    ['inputs.order.a name from the message', 'run: was refused at inputs.order'],
    ['inputs.order["\0"]', 'run: was refused at inputs.order'],
    [`inputs.${'x'.repeat(100_000)}`, `run: was refused at inputs.${'x'.repeat(64)}`],
    ['', 'run: was refused'],
  ])('names the field %j no further than to the input', (field, reason) => expect(refusedAt(field)).toBe(reason));
});
