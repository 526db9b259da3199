import { engineContract } from '@svc/host-kit/testing/engine';
import { describe, expect, test } from 'vitest';
import { CONTRACT_OF_STEPS } from './contract-of-steps.ts';

const assert = { deepEqual: (actual: unknown, expected: unknown) => expect(actual).toEqual(expected) };

describe('the engine of steps', () => {
  engineContract({ test, assert, ...CONTRACT_OF_STEPS });
});
