import type { RequestHead } from '../request-head.ts';
import { ExplainUsageError } from './terminal.ts';

/**
 * Reads the head of a captured request: as it was on the wire, or in the output of `curl -v`. A body is ignored.
 *
 * @param peer address of the other end of the connection; undefined when it is not known
 * @throws {ExplainUsageError} when there is no request, or more than one, or a line is not a header. The message names
 * the line by its number, and quotes nothing of it.
 */
export function capturedHead(text: string, peer: string | undefined): RequestHead {
  if (text.length > MAX_LENGTH) throw new ExplainUsageError('CAPTURE: is longer than 256 KiB. Pass the head alone.');
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const numbered = lines.map((line, index) => ({ line, number: index + 1 }));
  const isOfCurl = lines.some((line) => CURL_REQUEST.test(line));
  const sent = isOfCurl
    ? numbered.flatMap(({ line, number }) => (/^>( |$)/.test(line) ? [{ line: line.slice(2), number }] : []))
    : numbered;
  const start = sent.findIndex(({ line }) => line !== '');
  const [, method, url] = REQUEST_LINE.exec(sent[start]?.line ?? '') ?? [];
  if (method === undefined || url === undefined) {
    throw new ExplainUsageError(
      'CAPTURE: does not begin with a request line. Pass a head such as "GET /v1/runs HTTP/1.1", or the output of curl -v.',
    );
  }
  const end = sent.findIndex(({ line }, index) => index > start && line === '');
  if (isOfCurl && sent.slice(end === -1 ? sent.length : end).some(({ line }) => REQUEST_LINE.test(line)))
    throw new ExplainUsageError('CAPTURE: holds more than one request. Keep the refused one.');
  const headers = headersIn(sent.slice(start + 1, end === -1 ? undefined : end));
  return { method, url, headers, headersDistinct: headers, peer: peer === undefined ? undefined : { address: peer } };
}

function headersIn(
  lines: readonly { readonly line: string; readonly number: number }[],
): Readonly<Record<string, readonly string[]>> {
  const headers = new Map<string, string[]>();
  for (const { line, number } of lines) {
    // HTTP/2 names method and path in pseudo-headers; curl shows them beside the request line.
    if (/^:[a-z]+:/.test(line)) continue;
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined)
      throw new ExplainUsageError(`CAPTURE: line ${number} is not a header. Write it as "Name: value", in one line.`);
    const lower = name.toLowerCase();
    headers.set(lower, [...(headers.get(lower) ?? []), value]);
  }
  return Object.fromEntries(headers);
}

const MAX_LENGTH = 262_144;
const CURL_REQUEST = /^> [A-Z]+ \S+ HTTP\/[\d.]+\s*$/;
const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP\/[\d.]+\s*$/;
/** Node removes the space around a value, and so does this. */
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/;
