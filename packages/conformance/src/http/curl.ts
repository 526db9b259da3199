import type { Sent } from './answer.ts';

/** Formats a request as a shell command that reads keys from environment variables. */
export function curlOf({ method, url, headers, credentials, body }: Sent): string {
  return [
    'curl -sS -i',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...credentials.map((variable) => `-H "Authorization: Bearer $${variable}"`),
    ...headers.map(([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`),
    ...(body === undefined ? [] : [body.length > SHOWN ? `-d @- # ${body.length} characters` : `-d ${quoted(body)}`]),
    ...(/\/\.{1,2}(?:\/|$)/.test(url) ? ['--path-as-is'] : []),
    quoted(url),
  ].join(' ');
}

const SHOWN = 2000;

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
