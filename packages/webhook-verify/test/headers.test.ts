import { describe, expect, test } from 'vitest';
import { readDeliveryHeaders, withoutSpace } from '../src/headers.ts';

const HEADERS = {
  'SVC-Webhook-Id': 'whk_1',
  'SVC-Event-Type': 'run.completed',
  'SVC-Timestamp': '1700000000',
  'SVC-Signature': `sha256=${'0'.repeat(64)}`,
};

describe('white space around a value', () => {
  test.each([
    ['v1', 'v1'],
    [' v1', 'v1'],
    ['v1 ', 'v1'],
    ['v1\t', 'v1'],
    [' \t v1 \t ', 'v1'],
    ['v 1', 'v 1'],
    ['\u00a0v1\u00a0', '\u00a0v1\u00a0'],
    [' ', ''],
    ['\t \t', ''],
    ['', ''],
  ])('%j is read as %j', (value, expected) => expect(withoutSpace(value)).toBe(expected));
});

test('a record of headers may have one that is named get', () => {
  expect(readDeliveryHeaders({ ...HEADERS, get: 'it' })).toEqual(readDeliveryHeaders(HEADERS));
});
