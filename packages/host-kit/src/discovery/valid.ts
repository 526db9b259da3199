import type { z } from 'zod';

/**
 * Checks a document against its schema and returns it, with defaults filled in.
 *
 * @throws {TypeError} that names each member in error, and what is wrong with it
 */
export function valid<T extends z.ZodType>(schema: T, document: unknown, title: string): z.output<T> {
  const result = schema.safeParse(document);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.') || 'the document'}: ${message}`);
  throw new TypeError(`The ${title} cannot be published. ${problems.join('; ')}.`);
}
