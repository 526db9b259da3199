/**
 * Makes an error whose stack is its message. A program that does not catch it ends with one sentence: no line of code is at
 * fault, but something outside of the program.
 *
 * @param code for programs, such as `EADDRINUSE`
 */
export function withoutPlace(message: string, code?: string): Error {
  const error = Object.assign(new Error(message), code === undefined ? {} : { code });
  error.stack = `${error.name}: ${message}`;
  return error;
}
