import { connect } from 'node:net';

/** A request as it is written to a connection, and the answer of a host of versions 1.1 and 2.0 that prefers 1.1. */
export interface MalformedRequest {
  /** Continues the title "a request with …". */
  readonly name: string;
  /** The lines of the head, without the empty line that ends it. */
  readonly lines: readonly string[];
  /** Default: none. */
  readonly body?: string;
  readonly status: number;
  /** `SVC-Version` of the answer. Absent: the request names no path of the protocol, or its line cannot be read. */
  readonly version?: '1.1' | '2.0';
  /** True: the answer has an error envelope although it has no version. Default: it has one with a version alone. */
  readonly hasEnvelope?: boolean;
}

/** Sends a request, and returns the answer when the host has closed the connection. */
export function exchange(
  port: number,
  { lines, body = '' }: Pick<MalformedRequest, 'lines' | 'body'>,
): Promise<string> {
  return exchangeText(port, `${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Does the same as `exchange`, with the text that is written. Rejects when the connection breaks. */
export function exchangeText(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(text);
    });
    socket
      .on('data', (chunk) => {
        received += chunk;
      })
      .on('error', reject)
      .on('close', () => resolve(received));
  });
}

/**
 * Lists the differences between an answer and the expected one: the answer must be the only one of its connection, close it,
 * and have the status, the version and the envelope.
 */
export function problemsOf(
  answer: string,
  { status, version, hasEnvelope = version !== undefined }: Expected,
): string[] {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const answers = answer.match(/HTTP\/1\.1 /g)?.length ?? 0;
  const stamp = /\r\nsvc-version: (\S+)/i.exec(head)?.[1];
  const problems: string[] = [];
  if (answers !== 1) problems.push(`${answers} answers`);
  if (!head.startsWith(`HTTP/1.1 ${status} `)) problems.push(`the status line is ${head.split('\r\n', 1)[0]}`);
  if (!/\r\nconnection: close/i.test(head)) problems.push('the connection stays open');
  if (stamp !== version) problems.push(`SVC-Version is ${stamp}`);
  if (hasEnvelope && !/^\{.*"error":"[a-z_]+"/s.test(body)) problems.push(`the body is ${JSON.stringify(body)}`);
  return problems;
}

type Expected = Pick<MalformedRequest, 'status' | 'version' | 'hasEnvelope'>;

const JSON_TYPE = 'content-type: application/json';
const CHUNKED = '2\r\n{}\r\n0\r\n\r\n';
/** Longer than the head that Node reads by default. */
const OVERFLOW = `x-long: ${'x'.repeat(17_000)}`;

/** Requests that the parser of Node lets through, and a host must refuse. */
const FRAMING: readonly MalformedRequest[] = [
  {
    name: 'two Host lines',
    lines: ['POST /v1/runs HTTP/1.1', 'host: a', 'Host: a', JSON_TYPE, 'content-length: 2'],
    body: '{}',
    status: 400,
    version: '1.1',
  },
  {
    name: 'another transfer coding',
    lines: ['POST /v1/runs HTTP/1.1', 'host: a', JSON_TYPE, 'transfer-encoding: gzip, chunked'],
    body: CHUNKED,
    status: 501,
    version: '1.1',
  },
  {
    name: 'two transfer codings in two lines',
    lines: ['POST /v1/runs HTTP/1.1', 'host: a', JSON_TYPE, 'transfer-encoding: gzip', 'transfer-encoding: chunked'],
    body: CHUNKED,
    status: 501,
    version: '1.1',
  },
  {
    name: 'a transfer coding in HTTP/1.0',
    lines: ['POST /v1/runs HTTP/1.0', JSON_TYPE, 'transfer-encoding: chunked'],
    body: CHUNKED,
    status: 400,
    version: '1.1',
  },
  { name: 'no Host line', lines: ['GET /v1/runs/x HTTP/1.1'], status: 400, version: '1.1' },
];

/** A path that routers and `URL` read in different ways. */
const TARGETS: readonly MalformedRequest[] = (
  [
    ['/runs/abc{d}', 400, 'protocol'],
    ['/runs/ab^d', 400, 'protocol'],
    ['/runs/ab"d', 400, 'protocol'],
    ['/runs/x?y=#z', 400, 'protocol'],
    ['/runs/./x', 400, 'protocol'],
    ['/host/../runs/x', 400, 'protocol'],
    ['/runs/%2e%2e/x', 400, 'elsewhere'],
    ['/runs/%zz', 400, 'protocol'],
    ['/runs/%', 400, 'protocol'],
    ['/workflows/%zz', 400, 'protocol'],
    ['/workflows/%ff', 401, 'protocol'],
    ['/runs/%ff', 401, 'protocol'],
    ['/runs/', 400, 'protocol'],
    ['//runs/x', 400, 'elsewhere'],
    ['http://elsewhere/runs/x', 400, 'protocol'],
    ['http://a@a/runs/x', 400, 'protocol'],
    ['http://a/runs/../x{', 400, 'elsewhere'],
    ['http://a/runs/x', 401, 'protocol'],
    ['http://a/workflows/x', 401, 'protocol'],
    ['HTTP://A/runs/x', 401, 'protocol'],
    ['http://a?x', 404, 'elsewhere'],
    ['//a/runs/x', 400, 'elsewhere'],
  ] as const
).map(([target, status, place]) => ({
  name: `the target ${target}`,
  lines: [`GET ${target} HTTP/1.1`, 'host: a', 'svc-version: 2', 'connection: close'],
  status,
  ...(place === 'protocol' ? { version: '2.0' as const } : { hasEnvelope: true }),
}));

/** Methods that no operation has, and that some routers do not know. */
const METHODS: readonly MalformedRequest[] = ['PURGE', 'QUERY', 'TRACE', 'M-SEARCH'].map((method) => ({
  name: `the method ${method}`,
  lines: [`${method} /runs/x HTTP/1.1`, 'host: a', 'svc-version: 2', 'connection: close'],
  status: 401,
  version: '2.0',
}));

/** Requests that the parser of Node refuses. */
const PARSER: readonly MalformedRequest[] = [
  {
    name: 'a malformed header line',
    lines: ['GET /v1/runs/x HTTP/1.1', 'host: a', 'no colon'],
    status: 400,
    version: '1.1',
  },
  {
    name: 'a malformed header line of major 2',
    lines: ['GET /runs/x HTTP/1.1', 'svc-version: 2', 'no colon'],
    status: 400,
    version: '2.0',
  },
  { name: 'a path without a version', lines: ['GET /runs/x HTTP/1.1', 'no colon'], status: 400, version: '1.1' },
  {
    name: 'a version that was not read',
    lines: ['GET /runs/x HTTP/1.1', 'no colon', 'svc-version: 2'],
    status: 400,
    version: '2.0',
  },
  {
    name: 'a head that is too large',
    lines: ['GET /runs/x HTTP/1.1', 'host: a', 'svc-version: 2', OVERFLOW],
    status: 431,
    version: '2.0',
  },
  {
    name: 'another expectation',
    lines: ['POST /v1/runs HTTP/1.1', 'host: a', 'expect: a miracle'],
    status: 417,
    version: '1.1',
  },
  {
    name: 'two lengths',
    lines: ['POST /runs HTTP/1.1', 'svc-version: 2', 'content-length: 2', 'content-length: 3'],
    status: 400,
    version: '2.0',
  },
  {
    name: 'a bad length',
    lines: ['POST /v1/runs HTTP/1.1', 'host: a', 'content-length: two'],
    status: 400,
    version: '1.1',
  },
  {
    name: 'a control character in a value',
    lines: ['GET /v1/runs/x HTTP/1.1', 'host: a', 'x: \u0000'],
    status: 400,
    version: '1.1',
  },
  { name: 'a vendor path', lines: ['GET /host/example/livez HTTP/1.1', 'host: a', 'no colon'], status: 400 },
  { name: 'an unknown method', lines: ['BREW /runs/x HTTP/1.1', 'host: a'], status: 400, version: '1.1' },
  { name: 'a target without a path', lines: ['GET x HTTP/1.1', 'host: a'], status: 400 },
  { name: 'a tunnel', lines: ['CONNECT a:443 HTTP/1.1', 'no colon'], status: 400 },
  { name: 'no request line', lines: ['\u0016\u0003\u0001'], status: 400 },
  { name: 'another version of HTTP', lines: ['GET /v1/runs/x HTTP/9.9', 'host: a'], status: 400 },
];

/** Every request, each answered in the same way by a host on `hostServer`, below any framework. */
export const MALFORMED_REQUESTS: readonly MalformedRequest[] = [...FRAMING, ...TARGETS, ...METHODS, ...PARSER];

/** A body above the limit of a host, which the client has announced and not sent. */
export const LARGE_BODY: MalformedRequest = {
  name: 'an announced body above the limit',
  lines: ['POST /v1/runs HTTP/1.1', 'host: a', JSON_TYPE, 'expect: 100-continue', 'content-length: 100000000'],
  status: 413,
  version: '1.1',
};

/** A head whose end does not come. The host answers when its time for heads is over. */
export const LATE_HEAD: Pick<MalformedRequest, 'status'> & { readonly text: string } = {
  text: 'GET /v1/runs/x HTTP/1.1\r\nhost: a\r\n',
  status: 408,
};
