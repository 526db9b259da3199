import { expect, test } from 'vitest';
import { VersioningError } from './errors.ts';

test('a refusal has its name, code and status, and no stack', () => {
  const error = new VersioningError('protocol_version_mismatch', 'The path is of another major.', undefined);
  expect(error).toMatchObject({ name: 'VersioningError', code: 'protocol_version_mismatch', status: 400 });
  expect(String(error)).toBe('VersioningError: The path is of another major.');
  expect(error.stack).not.toMatch(/\n/);
  expect([VersioningError.is(error), VersioningError.is(new Error('x')), error instanceof Error]).toEqual([
    ...[true, false, true],
  ]);
  expect(Object.keys(error)).toEqual(['code', 'status', 'details']);
});

test('errors after a refusal have their stack', () => {
  const limit = Error.stackTraceLimit;
  new VersioningError('protocol_version_mismatch', 'x', undefined);
  expect(Error.stackTraceLimit).toBe(limit);
  expect(new Error('x').stack).toMatch(/errors\.test\.ts/);
});
