/**
 * Judges an address without code or tables of the package: it uses numbers instead of bytes, compares every block, and
 * lets the longest matching block decide.
 */
export function isDenied(value: bigint, width: number): boolean {
  let longest = -1;
  let denied = false;
  for (const [blocks, verdict] of [
    [DENIED_BLOCKS, true],
    [REACHABLE_BLOCKS, false],
  ] as const) {
    for (const block of blocks) {
      const [base = '', bits = ''] = block.split('/');
      const number = numberOf(base);
      const shift = BigInt(width - Number(bits));
      if (number.width !== width || value >> shift !== number.value >> shift || Number(bits) <= longest) continue;
      longest = Number(bits);
      denied = verdict;
    }
  }
  // A mapped address is judged as the IPv4 address inside.
  if (width === 128 && value >> 32n === 0xffffn) return isDenied(value & 0xffff_ffffn, 32);
  return denied;
}

export const DENIED_BLOCKS: readonly string[] = [
  ...[
    '0.0.0.0/8',
    '0.0.0.0/32',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
  ],
  ...[
    '192.0.0.0/29',
    '192.0.0.8/32',
    '192.0.0.9/32',
    '192.0.0.10/32',
    '192.0.0.170/32',
    '192.0.0.171/32',
    '192.0.2.0/24',
  ],
  ...[
    '192.88.99.0/24',
    '192.88.99.2/32',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/4',
  ],
  ...['240.0.0.0/4', '255.255.255.255/32', '168.63.129.16/32'],
  ...[
    '::/0',
    '::/96',
    '::/128',
    '::1/128',
    '::ffff:0:0/96',
    '::ffff:0:0:0/96',
    '64:ff9b::/96',
    '64:ff9b:1::/48',
    '100::/64',
  ],
  ...[
    '100:0:0:1::/64',
    '2001::/23',
    '2001::/32',
    '2001:1::1/128',
    '2001:1::2/128',
    '2001:1::3/128',
    '2001:2::/48',
    '2001:10::/28',
  ],
  ...['2001:db8::/32', '2002::/16', '3fff::/20', '5f00::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
];

export const REACHABLE_BLOCKS: readonly string[] = [
  ...[
    '192.31.196.0/24',
    '192.52.193.0/24',
    '192.175.48.0/24',
    '2000::/3',
    '2001:3::/32',
    '2001:4:112::/48',
    '2001:20::/28',
  ],
  ...['2001:30::/28', '2620:4f:8000::/48'],
];

/** Reads an address in plain form, for the constants of tests. */
export function numberOf(text: string): { readonly value: bigint; readonly width: 32 | 128 } {
  if (!text.includes(':')) {
    return { value: text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n), width: 32 };
  }
  const [head = '', tail] = text.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const missing = 8 - groups(head).length - groups(tail ?? '').length;
  const all = [...groups(head), ...Array<string>(tail === undefined ? 0 : missing).fill('0'), ...groups(tail ?? '')];
  return { value: all.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n), width: 128 };
}

export function textOf(value: bigint, width: number): string {
  if (width === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  return Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16)).join(
    ':',
  );
}
