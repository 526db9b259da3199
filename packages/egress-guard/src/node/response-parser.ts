/** The header fields of a response by their names in lower case. A repeated field is a list. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Receives the parts of one response, in their order. */
export interface ResponseEvents {
  /** The head of the response is complete. It is not called for an informational response. */
  onHead(status: number, headers: ResponseHeaders): void;
  /** Bytes of the body, without their framing. They belong to the chunk that was read. */
  onBody(bytes: Uint8Array): void;
}

/** Bytes that are not one valid HTTP/1.1 response. */
export class InvalidResponse extends Error {
  /** @param problem the rule that the bytes break, for logs */
  constructor(problem: string) {
    super(`The response is invalid: ${problem}.`);
    this.name = 'InvalidResponse';
  }
}

/**
 * Parses one HTTP/1.1 response (RFC 9112) from chunks of bytes. It accepts less than the RFC permits: two readings of the
 * same bytes are how a response of one request becomes the response of another. So it rejects folded lines, a line end
 * without CR, a repeated or mixed length, a transfer coding other than `chunked`, and an upgrade.
 *
 * The parser does no I/O. After an error it must not be used again.
 */
export class ResponseParser {
  readonly #events: ResponseEvents;
  readonly #isHead: boolean;
  #state: State = 'head';
  /** The bytes of the head, or of a line of the framing, that earlier chunks had. */
  #text = '';
  /** The bytes that the body, or the current chunk of it, still has. */
  #left = 0;
  #informational = 0;
  /** The bytes of chunk extensions and trailers. */
  #overhead = 0;
  #mayPersist = false;
  #keepAliveMs: number | undefined;

  /** @param method the method of the request: a response to HEAD has no body */
  constructor(method: string, events: ResponseEvents) {
    this.#events = events;
    this.#isHead = method === 'HEAD';
  }

  /** Whether the response has been read to its end. */
  get isComplete(): boolean {
    return this.#state === 'complete';
  }

  /** Whether the connection may serve another request: the response is complete, framed, and does not ask to close. */
  get mayPersist(): boolean {
    return this.#mayPersist && this.#state === 'complete';
  }

  /** The bytes that the body still has, as far as its length was announced. */
  get bytesLeft(): number {
    return this.#left;
  }

  /** The time in milliseconds for which the server keeps the idle connection; undefined when it did not say. */
  get keepAliveMs(): number | undefined {
    return this.#keepAliveMs;
  }

  /**
   * Reads a chunk. Bytes after the end of the response are dropped, and `mayPersist` is then false.
   *
   * @throws {InvalidResponse} when the bytes are invalid
   */
  read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) at = this.#step(chunk, at);
  }

  /** Reads the end of the connection. @throws {InvalidResponse} when the response is incomplete */
  end(): void {
    if (this.#state === 'until-close') this.#state = 'complete';
    if (this.#state !== 'complete') throw new InvalidResponse('the connection was closed before its end');
  }

  /** Reads from a position, and returns the next one. */
  #step(chunk: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(chunk, at);
      case 'length':
      case 'chunk-data':
        return this.#readCounted(chunk, at);
      case 'until-close':
        this.#events.onBody(at === 0 ? chunk : chunk.subarray(at));
        return chunk.length;
      case 'chunk-size':
      case 'chunk-end':
      case 'trailers':
        return this.#readLine(chunk, at);
      case 'complete':
        // They may be the beginning of a response that would answer the next request.
        this.#mayPersist = false;
        return chunk.length;
    }
  }

  #readHead(chunk: Buffer, at: number): number {
    const before = this.#text.length;
    // The end is looked for in the text, so that an end that is split between chunks is found.
    const text = this.#text + chunk.toString('latin1', at, at + MAX_HEAD_BYTES + 1 - before);
    const end = text.indexOf('\r\n\r\n', Math.max(0, before - 3));
    if (end === -1) {
      if (text.length > MAX_HEAD_BYTES) throw new InvalidResponse(`its head exceeds ${MAX_HEAD_BYTES} bytes`);
      requireBeginning(text, before);
      this.#text = text;
      return chunk.length;
    }
    this.#text = '';
    this.#beginResponse(parseHead(text.slice(0, end + 2)));
    return at + end + 4 - before;
  }

  #beginResponse({ version, status, headers, framing: { length, coding } }: Head): void {
    if (status < 200) {
      if (status === 101) throw new InvalidResponse('it upgrades the connection');
      if (length !== undefined || coding !== undefined)
        throw new InvalidResponse('an informational response has a body');
      if (version !== '1.1' || asksToClose(headers.connection))
        throw new InvalidResponse('an informational response ends the connection');
      this.#informational += 1;
      if (this.#informational > MAX_INFORMATIONAL) throw new InvalidResponse('too many informational responses');
      return;
    }
    if (coding !== undefined) requireChunked(coding, length, version);
    const bytes = length === undefined ? undefined : parseLength(length);
    this.#mayPersist = version === '1.1' && !asksToClose(headers.connection);
    this.#keepAliveMs = keepAliveOf(headers['keep-alive']);
    if (this.#isHead) this.#state = 'complete';
    else if (status === 204 || status === 304) {
      // A body may follow although none is allowed. Its bytes must not become the next response.
      if ((bytes ?? 0) > 0 || coding !== undefined) this.#mayPersist = false;
      this.#state = 'complete';
    } else if (coding !== undefined) this.#state = 'chunk-size';
    else if (bytes !== undefined) {
      this.#left = bytes;
      this.#state = bytes === 0 ? 'complete' : 'length';
    } else {
      this.#mayPersist = false;
      this.#state = 'until-close';
    }
    this.#events.onHead(status, headers);
  }

  /** Reads bytes of a body whose length is known. */
  #readCounted(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#state = this.#state === 'length' ? 'complete' : 'chunk-end';
    this.#events.onBody(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end));
    return end;
  }

  /** Reads a line of the chunked coding. */
  #readLine(chunk: Buffer, at: number): number {
    const found = chunk.indexOf(LF, at);
    const end = found === -1 ? chunk.length : found + 1;
    if (this.#text.length + end - at > MAX_LINE_BYTES) throw new InvalidResponse('a line of its framing is too long');
    this.#text += chunk.toString('latin1', at, end);
    if (found === -1) return end;
    const line = this.#text;
    this.#text = '';
    if (!line.endsWith('\r\n')) throw new InvalidResponse('a line ends without CR');
    this.#takeLine(line.slice(0, -2));
    return end;
  }

  #takeLine(line: string): void {
    if (this.#state === 'chunk-end') {
      if (line !== '') throw new InvalidResponse('a chunk is longer than its size');
      this.#state = 'chunk-size';
      return;
    }
    this.#overhead += this.#state === 'trailers' ? line.length : Math.max(0, line.length - MAX_SIZE_DIGITS);
    if (this.#overhead > MAX_OVERHEAD_BYTES) throw new InvalidResponse('its framing is too long');
    if (this.#state === 'trailers') {
      if (line === '') this.#state = 'complete';
      else if (!FIELD_LINE.test(line)) throw new InvalidResponse('a trailer is malformed');
      else if (FRAMING.test(line)) throw new InvalidResponse('a trailer is about the framing');
      return;
    }
    const size = CHUNK_SIZE.exec(line)?.[1];
    if (size === undefined) throw new InvalidResponse('the size of a chunk is malformed');
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? 'trailers' : 'chunk-data';
  }
}

type State = 'head' | 'length' | 'until-close' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailers' | 'complete';

interface Framing {
  readonly length: string | undefined;
  readonly coding: string | undefined;
}

interface Head {
  readonly version: '1.0' | '1.1';
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The length and the transfer coding; undefined when the field is absent. */
  readonly framing: Framing;
}

/** The status line and all header lines, with their line ends. */
const MAX_HEAD_BYTES = 16_384;
/** One line of the chunked coding: a size with its extensions, or a trailer. */
const MAX_LINE_BYTES = 4096;
/** All chunk extensions and trailers of a response. The sizes of chunks do not count: each has at least a byte of body. */
const MAX_OVERHEAD_BYTES = 65_536;
/** More 1xx responses than any honest server sends. Without a limit, endless ones would last until the deadline. */
const MAX_INFORMATIONAL = 16;
const LF = 0x0a;

const STATUS_LINE = /^HTTP\/(1\.[01]) ([1-9][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/;
const FIELD_LINES = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
const FIELD_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/;
const FRAMING = /^(?:content-length|transfer-encoding|connection|trailer|host)[\t ]*:/i;
const TAB_AFTER_CODING = /^transfer-encoding:[^\r]*\t[\t ]*\r$/im;
const MAX_SIZE_DIGITS = 12;
const EXTENSION =
  /;[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:=(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+|"(?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?/;
/** At most 12 digits, so that the size is a safe integer. Extensions are passed over; they have no space between them. */
const CHUNK_SIZE = new RegExp(`^([0-9A-Fa-f]{1,12})(?:${EXTENSION.source})*$`);
const LENGTH = /^[0-9]{1,15}$/;

function parseHead(text: string): Head {
  const line = STATUS_LINE.exec(text);
  if (line === null) throw new InvalidResponse('its status line is malformed');
  const [{ length }, version, status] = line;
  if (!FIELD_LINES.test(text.slice(length))) throw new InvalidResponse('a header line is malformed');
  const headers = parseFields(text, length);
  const framing = { length: single(headers, 'content-length'), coding: single(headers, 'transfer-encoding') };
  // Other parsers take `chunked` with a tab behind it for an unknown coding, and read until the connection is closed.
  if (framing.coding !== undefined && TAB_AFTER_CODING.test(text))
    throw new InvalidResponse('a tab follows its coding');
  return { version: version === '1.1' ? '1.1' : '1.0', status: Number(status), headers, framing };
}

/** Reads field lines that are well-formed. */
function parseFields(text: string, start: number): ResponseHeaders {
  const headers: Record<string, string | readonly string[] | undefined> = Object.create(null);
  for (let at = start; at < text.length; ) {
    const colon = text.indexOf(':', at);
    const end = text.indexOf('\r\n', colon);
    const name = text.slice(at, colon).toLowerCase();
    const value = withoutSpace(text, colon + 1, end);
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else headers[name] = typeof before === 'string' ? [before, value] : [...before, value];
    at = end + 2;
  }
  return headers;
}

function single(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new InvalidResponse(`${name} is repeated`);
}

function withoutSpace(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/**
 * Rejects an incomplete head that no further byte can make valid. A server that speaks another protocol, or ends its lines
 * without CR, fails at once and not at the deadline.
 *
 * @param checked the length of the text that was checked before
 */
function requireBeginning(text: string, checked: number): void {
  LONE_LINE_END.lastIndex = Math.max(0, checked - 1);
  if (text.startsWith('HTTP/1.') ? LONE_LINE_END.test(text) : !'HTTP/1.'.startsWith(text)) {
    throw new InvalidResponse('it does not begin as HTTP/1.1');
  }
}

/** A LF without CR, or a CR that something else than LF follows. */
const LONE_LINE_END = /(?<!\r)\n|\r(?!\n|$)/g;

function requireChunked(coding: string, length: string | undefined, version: string): void {
  if (length !== undefined) throw new InvalidResponse('it has both a length and a transfer coding');
  if (version !== '1.1') throw new InvalidResponse('HTTP/1.0 has no transfer coding');
  if (coding.toLowerCase() !== 'chunked') throw new InvalidResponse('its transfer coding is unknown');
}

function parseLength(text: string): number {
  if (!LENGTH.test(text)) throw new InvalidResponse('its length is malformed');
  return Number(text);
}

function asksToClose(connection: string | readonly string[] | undefined): boolean {
  if (connection === undefined || connection === 'keep-alive') return false;
  return [connection].flat().some((value) => /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i.test(value));
}

function keepAliveOf(value: string | readonly string[] | undefined): number | undefined {
  if (value === undefined) return undefined;
  const seconds = /(?:^|[\s,;])timeout=([0-9]{1,9})/i.exec([value].flat().join(','))?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
