import { expect, test } from 'vitest';
import { servedOptions } from './protocol-options.ts';

test.each([
  [{}, ['1.1', '2.0'], '1.1'],
  [{ versions: ['2.0', '1.1'] }, ['2.0', '1.1'], '1.1'],
  [{ versions: ['2.0'] }, ['2.0'], '2.0'],
  [{ versions: ['2.0'], preferred: '2.1' }, ['2.0'], '2.1'],
])('a host with %o serves %o and prefers %s', (given, versions, preferred) => {
  expect(servedOptions(given)).toMatchObject({ versions, preferred });
});
