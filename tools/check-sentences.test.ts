import { describe, expect, test } from 'vitest';

interface Shapes {
  countShapes(files: readonly { readonly path: string; readonly text: string }[]): {
    readonly words: number;
    readonly shapes: readonly { readonly name: string; readonly places: readonly string[]; readonly per1000: number }[];
  };
}

const { countShapes }: Shapes = await import(new URL('./check-sentences.mjs', import.meta.url).href);

const placesIn = (path: string, text: string) => countShapes([{ path, text }]).shapes.map(({ places }) => places);

describe('check-sentences', () => {
  test('names the line of a comment that begins with "What"', () => {
    const text = 'const a = 1;\n\n/** What is kept of it. */\nconst b = 2;\n';
    expect(placesIn('a.ts', text)).toEqual([['a.ts:3 What'], ['a.ts:3 What is'], []]);
  });

  test('reads docstrings of several lines and runs of line comments', () => {
    const text = '/**\n * Returns a text.\n * It is for whoever asks.\n */\n// Nobody\n// knows what it was.\n';
    expect(placesIn('a.ts', text)).toEqual([[], ['a.ts:6 what it'], ['a.ts:3 whoever', 'a.ts:5 Nobody']]);
  });

  test('reads no strings and no comments behind code', () => {
    expect(placesIn('a.ts', "const a = 'what is it'; // what is it\n")).toEqual([[], [], []]);
  });

  test('reads the prose of a page, and neither its code nor its hidden comments', () => {
    const text = 'Text.\n\n```ts\n// what is it\n```\n\n<!-- what is it -->\n\nWhatever comes.\n';
    expect(placesIn('a.md', text)).toEqual([[], [], ['a.md:9 Whatever']]);
  });

  test('counts per 1 000 words', () => {
    const text = `/** ${'word '.repeat(999)}nobody */`;
    expect(countShapes([{ path: 'a.ts', text }])).toMatchObject({ words: 1000, shapes: [{}, {}, { per1000: 1 }] });
  });
});
