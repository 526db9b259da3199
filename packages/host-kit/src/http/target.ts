/** The path and the query of an absolute URL in the form that `Request` gives it. */
export function targetOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const end = url.indexOf('#', start);
  return start === -1 ? '/' : url.slice(start, end === -1 ? undefined : end);
}

/** The path of a target. */
export function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? '';
}

/** The query of a target. */
export function queryOf(target: string): URLSearchParams {
  const start = target.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : target.slice(start));
}
