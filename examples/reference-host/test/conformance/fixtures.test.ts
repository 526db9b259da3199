import { FIXTURES } from '@svc/conformance';
import { CONFORMANCE_FIXTURES } from '@svc/host-kit/testing/conformance';
import { expect, test } from 'vitest';

test('the kit has every fixture of the suite, and no other one', () => {
  expect([...CONFORMANCE_FIXTURES].sort()).toEqual(Object.keys(FIXTURES).sort());
});
