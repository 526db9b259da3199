import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { sampleRun } from '../testing/store-contract/samples.ts';
import { configurableOf } from './configurable.ts';

const SECTIONS = ['ai', 'budget', 'distillation'] as const;

const of = (configurable: JsonObject) =>
  configurableOf(sampleRun({ runId: 'run_1', status: 'running', configurable }), SECTIONS);

describe('configurableOf', () => {
  test('keeps the members that have the form of major 2', () => {
    const ai = { model: 'large', temperature: 2, reasoningVerbosity: 'none', maxRefusals: 0 };
    expect(of({ run: { recursionLimit: 3 }, ai, distillation: { tokenBudget: 0 } })).toEqual({
      run: { recursionLimit: 3 },
      ai,
      distillation: { tokenBudget: 0 },
    });
  });

  test('leaves out the members of other forms', () => {
    const ai = { model: '', temperature: 2.1, reasoningVerbosity: 'all', maxRefusals: -1, other: 1 };
    expect(of({ run: { recursionLimit: 1.5 }, ai, distillation: { tokenBudget: '1' } })).toEqual({});
  });

  test('takes the reserved keys of major 1, and no other key beside the sections', () => {
    const reserved = { model: 'm', temperature: 0, maxTokens: 1, promptOverrides: { a: 'b' }, recursionLimit: 3 };
    const others = { provider: 'p', runTimeoutMs: 1, tokenBudget: 1, escalationThreshold: 1 };
    const { recursionLimit, ...ai } = reserved;
    expect(of({ ...reserved, ...others })).toEqual({ run: { recursionLimit }, ai });
  });

  test('a section comes before a reserved key', () => {
    const sections = { ai: { model: 'large' }, run: { recursionLimit: 4 } };
    expect(of({ model: 'small', recursionLimit: 3, ...sections })).toEqual(sections);
  });

  test('has every member of every section', () => {
    const ai = {
      ...{ provider: 'p', model: 'm', temperature: 0.5, maxTokens: 9, credentialRef: 'c', promptOverrides: {} },
      ...{ mockProvider: 'f', reasoningVerbosity: 'full', maxRefusals: 2 },
    };
    const run = { recursionLimit: 1, runTimeoutMs: 2, maxLoopIterations: 0, escalationThreshold: 0.5 };
    const whole = { run, ai, budget: { any: [1] }, distillation: { tokenBudget: 7 }, extensions: { acme: { x: 1 } } };
    expect(of(whole)).toEqual(whole);
    expect(of({ ai: { ...ai, reasoningVerbosity: 'summary' } })).toEqual({
      ai: { ...ai, reasoningVerbosity: 'summary' },
    });
  });

  test.each<[string, JsonObject]>([
    ['a text that is a number', { model: 7, provider: true, credentialRef: null, mockProvider: [] }],
    ['a number that is a text', { temperature: '1', maxTokens: '1' }],
    ['a temperature out of its range', { temperature: -0.1 }],
    ['a count that is negative, or a part', { maxTokens: -1, maxRefusals: 0.5 }],
    ['an object that is a list', { promptOverrides: [] }],
    ['a word of no list', { reasoningVerbosity: '' }],
    ['nothing', { model: undefined, temperature: undefined, maxTokens: undefined }],
  ])('leaves out %s', (_name, ai) => {
    expect(of({ ai })).toEqual({});
  });

  test('leaves out what is no object where a section or an extension is expected', () => {
    expect(of({ run: [], ai: 'x', budget: 1, distillation: null, extensions: { acme: 1, other: [] } })).toEqual({});
    expect(of({ run: { escalationThreshold: '1' }, extensions: [{}] })).toEqual({});
  });

  test('has the sections alone that the engine understands', () => {
    const configurable = { ai: { model: 'm' }, budget: { a: 1 }, distillation: { tokenBudget: 1 } };
    const run = sampleRun({ runId: 'run_1', status: 'running', configurable });
    expect(configurableOf(run, [])).toEqual({});
    for (const name of SECTIONS) expect(configurableOf(run, [name])).toEqual({ [name]: configurable[name] });
  });

  test('is empty for a run without options', () => {
    expect(configurableOf(sampleRun({ runId: 'run_1', status: 'running' }), SECTIONS)).toEqual({});
  });

  test.each(Object.getOwnPropertyNames(Object.prototype))('leaves out the member %s of every object', (name) => {
    for (const value of [1, 'model', null, {}, []]) {
      const members: JsonObject = JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`);
      expect(of({ run: members, ai: members, distillation: members })).toEqual({});
    }
  });
});
