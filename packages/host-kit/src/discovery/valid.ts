import type { z } from 'zod';

/**
 * Checks a document against its schema and returns it, with defaults filled in.
 *
 * @param title names the document in the error
 * @throws {TypeError} that names each member in error, and the fault
 */
export function valid<T extends z.ZodType>(schema: T, document: unknown, title: string): z.output<T> {
  // A schema of a document is used once or twice, which does not pay for compiling it.
  const result = schema.safeParse(document, { jitless: true });
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => {
    // The issue of a key hides the fault of the key.
    const { message } = issue.code === 'invalid_key' ? (issue.issues[0] ?? issue) : issue;
    return `${issue.path.length === 0 ? title : `${title}, ${issue.path.join('.')}`}: ${message}.`;
  });
  throw new TypeError(`${problems.join(' ')} Correct the options of createHost, usually \`discovery\`.`);
}
