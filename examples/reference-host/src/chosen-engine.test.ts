import { expect, test } from 'vitest';
import { chosenEngine } from './chosen-engine.ts';

test.each([
  [[], 'steps'],
  [['--engine', 'steps'], 'steps'],
  [['--engine', 'dbos'], 'dbos'],
  [['--engine'], undefined],
  [['--engine', 'other'], undefined],
  [['--engine', 'dbos', 'dbos'], undefined],
  [['--store', 'dbos'], undefined],
  [['dbos'], undefined],
])('npm start -- %j takes the engine %j', (args, engine) => {
  expect(chosenEngine(args)).toBe(engine);
});
