import type { WorkflowEngine } from '@svc/host-kit';
import { expect, test } from 'vitest';
import { checkedOptions, type DbosEngineOptions } from '../src/options.ts';

const engine: WorkflowEngine = {
  execute: async () => ({ status: 'completed', outputs: {} }),
};
const least = { engine, databaseUrl: 'postgres://svc@db.example/svc' };

test('the options have defaults, and keep what is given', () => {
  const defaults = { schema: 'dbos', application: 'svc-host', connections: 10, turnDays: 7 };
  expect(checkedOptions(least)).toEqual({ ...least, ...defaults });
  const given = { schema: 'other', application: 'shop', connections: 2, turnDays: 3650 };
  expect(checkedOptions({ ...least, ...given })).toEqual({ ...least, ...given });
});

const WRONG: readonly (readonly [problem: string, options: Record<string, unknown>])[] = [
  ['dbosEngine: engine is not a workflow engine. Pass one, such as stepsEngine({ workflows }).', { engine: {} }],
  ['dbosEngine: engine is not a workflow engine. Pass one, such as stepsEngine({ workflows }).', { engine: undefined }],
  [
    'dbosEngine: databaseUrl is not the URL of a PostgreSQL. Write postgres://USER@HOST/DATABASE.',
    { databaseUrl: 'sqlite:svc.db' },
  ],
  ['dbosEngine: schema must be 1 to 63 characters of A-Z a-z 0-9 _ -.', { schema: 'a"; DROP SCHEMA public; --' }],
  ['dbosEngine: schema must be 1 to 63 characters of A-Z a-z 0-9 _ -.', { schema: 'x'.repeat(64) }],
  ['dbosEngine: application must be 1 to 256 characters of A-Z a-z 0-9 _ -.', { application: '' }],
  ['dbosEngine: connections must be a whole number from 2 to 1000.', { connections: 1 }],
  ['dbosEngine: turnDays must be a whole number from 1 to 3650.', { turnDays: 0.5 }],
  ['dbosEngine: queue is not an option. Remove it.', { queue: 'runs' }],
];

test.each(WRONG)('refuses with: %s', (problem, wrong) => {
  const options = { ...least, ...wrong } as DbosEngineOptions;
  expect(() => checkedOptions(options)).toThrow(new TypeError(problem));
});
