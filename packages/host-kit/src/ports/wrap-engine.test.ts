import { expect, test } from 'vitest';
import type { WorkflowEngine } from './engine.ts';
import { wrapEngine } from './wrap-engine.ts';

const execute: WorkflowEngine['execute'] = async () => ({ status: 'completed', outputs: {} });

/** An engine that declares everything, and whose methods need their instance. */
class Whole implements Required<WorkflowEngine> {
  readonly version = 2;
  readonly otherVersions = [1];
  readonly forks = ['replay'] as const;
  readonly interrupts = ['approval'] as const;
  readonly compensation = 'reverse-completion';
  readonly configurable = ['ai'] as const;
  readonly events = ['vendor.acme.made'];
  readonly #known = 'known';

  readonly execute = execute;

  refuse(workflowId: string) {
    return workflowId === this.#known ? undefined : { field: 'workflowId', problem: `must be ${this.#known}` };
  }

  describe(workflowId: string) {
    return { workflowId, name: this.#known };
  }
}

test('a wrapped engine declares everything that the engine declares, and calls its methods on it', () => {
  const engine = new Whole();
  const other: WorkflowEngine['execute'] = async () => ({ status: 'completed', outputs: { by: 'another' } });
  const { refuse, describe, execute: executed, ...declared } = wrapEngine(engine, { execute: other });
  const { execute: _, ...values } = engine;
  expect(declared).toEqual(values);
  expect([refuse('known', {}), refuse('other', {})]).toEqual([undefined, engine.refuse('other')]);
  expect(describe?.('known')).toEqual(engine.describe('known'));
  expect(executed).toBe(other);
});

test('a wrapped engine leaves out the members that the engine leaves out', () => {
  const engine: WorkflowEngine = { version: 1, refuse: () => undefined, execute };
  expect(Object.keys(wrapEngine(engine, { execute })).sort()).toEqual(['execute', 'refuse', 'version']);
});

test('a wrapped engine refuses by the replaced function', () => {
  const refusal = { field: 'workflowId', problem: 'must be another' };
  expect(wrapEngine(new Whole(), { execute, refuse: () => refusal }).refuse('known', {})).toBe(refusal);
});
