import type { VNode } from 'preact';

const PATHS = {
  good: 'M5 12.5l4.500 4.500L19 7.500',
  warn: 'M12 4 2.500 20h19zM12 10v4.500M12 17.200v.3',
  bad: 'M6.500 6.500l11 11M17.500 6.500l-11 11',
  idle: 'M9 6.500v11M15 6.500v11',
  overview: 'M4 5h7v6H4zM13 5h7v10h-7zM4 13h7v6H4zM13 17h7v2h-7z',
  subscriptions: 'M5 18.500a1 1 0 1 0 0-.1M4 11a8.500 8.500 0 0 1 8.500 8.500M4 5a14.500 14.500 0 0 1 14.500 14.500',
  'dead-letters': 'M3.500 6.500h17v11h-17zM4 7l8 6 8-6',
  runs: 'M6 4.500l13 7.500-13 7.500z',
  audit: 'M7 4h10v16H7zM10 8.500h4M10 12h4M10 15.500h2.500',
  keys: 'M14.500 9.500a4 4 0 1 1-3-3.900M11 12.500 20 3.500M17 6.500l2.500 2.500',
  roles:
    'M8.500 11a3.200 3.200 0 1 0-.1 0M3 19.500c.5-4 10.500-4 11 0M16 6a3 3 0 0 1 0 5.500M17 14.500c2.500.5 4 2.500 4 5',
  host: 'M4 5h16v6H4zM4 13h16v6H4zM7.500 8h.2M7.500 16h.2',
  out: 'M10 5H5v14h5M14 8l4.500 4-4.500 4M18 12H9.500',
} as const;

/** The mark of the console. */
export function Mark(): VNode {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="9" />
      <path d="M7.500 20.500 12.500 12l6 8.500 6-8.500" />
    </svg>
  );
}

/** A line icon beside a word. It has no name of its own: the word says what it shows. */
export function Icon({ name }: { readonly name: keyof typeof PATHS }): VNode {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
