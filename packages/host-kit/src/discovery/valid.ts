import type { z } from 'zod';

/**
 * The document, if it is one of its schema.
 *
 * @throws {TypeError} with a sentence for every problem
 */
export function valid<T extends z.ZodType>(schema: T, document: unknown, title: string): z.output<T> {
  const result = schema.safeParse(document);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.') || 'the document'}: ${message}`);
  throw new TypeError(`The ${title} cannot be published. ${problems.join('; ')}.`);
}
