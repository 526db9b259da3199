import type { VNode } from 'preact';

/** Filters as links: the chosen one is a part of the address, so it can be sent to a colleague. */
export function FilterLinks(given: {
  readonly label: string;
  readonly current: string;
  readonly choices: readonly { readonly value: string; readonly name: string }[];
  readonly link: (value: string) => string;
}): VNode {
  const { label, current, choices, link } = given;
  return (
    <nav class="filters" aria-label={`Filter: ${label}`}>
      {choices.map(({ value, name }) => (
        <a key={value} href={link(value)} aria-current={value === current ? 'true' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}
