import { chance } from '@svc/tools/chance';
import { expect, test } from 'vitest';
import { SearchRound } from './search-round.ts';

const NAMES = ['a', 'b', 'c', '\u{ff5e}', '\u{1f600}'];

test.each([
  { looks: [['', 'b']], isOver: false, case: 'the first part' },
  { looks: [['c', 'c']], isOver: true, case: 'everything at once' },
  {
    looks: [
      ['b', 'c'],
      ['c', 'a'],
    ],
    isOver: false,
    case: 'two parts that wrap and do not meet',
  },
  {
    looks: [
      ['b', 'c'],
      ['c', 'b'],
    ],
    isOver: true,
    case: 'two parts that meet',
  },
  {
    looks: [
      ['b', 'c'],
      ['c', 'a'],
      ['a', 'c'],
    ],
    isOver: true,
    case: 'a part beyond the begin',
  },
  {
    looks: [
      ['', 'c'],
      ['c', 'a'],
    ],
    isOver: true,
    case: 'a begin before the first name',
  },
  // By UTF-16 units, the second name would be the first.
  {
    looks: [
      ['a', '\u{ff5e}'],
      ['\u{ff5e}', '\u{1f600}'],
    ],
    isOver: false,
    case: 'names in the order of their bytes',
  },
])('$case: over is $isOver', ({ looks, isOver }) => {
  const round = new SearchRound();
  for (const [after = '', until = ''] of looks) round.looked(after, until);
  expect(round.isOver).toBe(isOver);
});

test('a search of any parts is over exactly when it has looked at every name', () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const { below } = chance(seed);
    const round = new SearchRound();
    const seen = new Set<string>();
    for (let at = below(NAMES.length); !round.isOver; ) {
      const after = NAMES[at] ?? '';
      const parts = 1 + below(NAMES.length);
      for (let part = 0; part < parts; part += 1) {
        at = (at + 1) % NAMES.length;
        seen.add(NAMES[at] ?? '');
      }
      round.looked(after, NAMES[at] ?? '');
      expect(round.isOver, `seed ${seed}`).toBe(seen.size === NAMES.length);
    }
  }
});
