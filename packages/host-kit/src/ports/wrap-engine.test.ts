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

  accepts(workflowId: string) {
    return workflowId === this.#known || { field: 'workflowId', problem: `must be ${this.#known}` };
  }

  describe(workflowId: string) {
    return { workflowId, name: this.#known };
  }
}

test('a wrapped engine declares everything that the engine declares, and calls its methods on it', () => {
  const engine = new Whole();
  const other: WorkflowEngine['execute'] = async () => ({ status: 'completed', outputs: { by: 'another' } });
  const { accepts, describe, execute: executed, ...declared } = wrapEngine(engine, { execute: other });
  const { execute: _, ...values } = engine;
  expect(declared).toEqual(values);
  expect([accepts?.('known', {}), accepts?.('other', {})]).toEqual([true, engine.accepts('other')]);
  expect(describe?.('known')).toEqual(engine.describe('known'));
  expect(executed).toBe(other);
});

test('a wrapped engine leaves out the members that the engine leaves out', () => {
  expect(wrapEngine({ execute }, { execute })).toEqual({ version: 1, execute });
});

test('an engine that is a function has the version 1, and accepts every run', () => {
  expect(wrapEngine(async () => ({}))).toEqual({ version: 1, execute: expect.any(Function) });
});

test('functions by workflow id are an engine of the version 1, which knows these workflows alone', () => {
  const { version, accepts, describe, execute: executed } = wrapEngine({ greet: async () => ({}) });
  const refusal = { field: 'workflowId', problem: 'is not a workflow of this host: use one of greet' };
  expect([version, accepts?.('greet', {}), accepts?.('sing', {})]).toEqual([1, true, refusal]);
  expect([describe?.('greet'), describe?.('sing')]).toEqual([{ workflowId: 'greet' }, undefined]);
  expect(executed).toBeTypeOf('function');
});

test('a wrapped engine accepts by the replaced function', () => {
  const refusal = { field: 'workflowId', problem: 'must be another' };
  expect(wrapEngine(new Whole(), { execute, accepts: () => refusal }).accepts?.('known', {})).toBe(refusal);
});
