import { expect, test } from 'vitest';

interface Manual {
  manualPage(text: string, path: string, repository: string): string;
}
const { manualPage }: Manual = await import(new URL('./write-manual.mjs', import.meta.url).href);

test('a page is copied without marks, and its links are absolute', () => {
  const page =
    '<!-- not run: a reason -->\n\n# Title\n\n<!-- prelude\nconst a = 1;\n-->\n\n[a](../packages/x) [b](#b) [c](https://c.example) [d](other.md#e)\n';
  expect(manualPage(page, 'docs/page.md', 'https://repository.example/svc')).toBe(
    '# Title\n\n[a](https://repository.example/svc/tree/main/packages/x) [b](#b) [c](https://c.example) ' +
      '[d](https://repository.example/svc/tree/main/docs/other.md#e)\n',
  );
});
