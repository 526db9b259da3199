import type { z } from 'zod';

/**
 * Checks a document against its schema and returns it, with defaults filled in.
 *
 * @param title names the document in the error
 * @throws {TypeError} that names each member in error, and the fault
 */
export function valid<T extends z.ZodType>(schema: T, document: unknown, title: string): z.output<T> {
  const result = schema.safeParse(document);
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    ({ path, message }) => `${path.length === 0 ? title : `${title}, ${path.join('.')}`}: ${message}.`,
  );
  throw new TypeError(`${problems.join(' ')} Correct the options of createHost, usually \`capabilities\`.`);
}
