import { describe, expect, test } from 'vitest';
import { withoutSecrets } from '../../src/runs/secret-shapes.ts';

describe('withoutSecrets', () => {
  test('replaces a JSON Web Token', () => {
    const token = `eyJ${'a'.repeat(40)}.${'b'.repeat(2000)}.${'c'.repeat(86)}`;
    expect(withoutSecrets({ note: `see ${token}!` })).toEqual({ note: 'see [redacted]!' });
  });

  test.each(['eyJ-', 'eyJaaaaaaaa.', 'sk-', 'Bearer ', '-----BEGIN '])(
    'takes linear time for a text of many %j',
    (piece) => {
      const text = piece.repeat(400_000 / piece.length);
      const before = process.cpuUsage();
      withoutSecrets([text]);
      // Quadratic time would be minutes.
      expect(process.cpuUsage(before).user).toBeLessThan(10_000_000);
    },
  );
});
