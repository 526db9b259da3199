import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

type Send = (request: Request) => Promise<Response>;

/**
 * Wraps `fetch` so that every response of the protocol is checked against the host's own API description: status,
 * headers, media type and body. A member of the body that the description does not name is an error.
 *
 * @param send sends a request to one host; the description is read with it too
 * @param configurationOf names the configuration of the host at an origin, if it is known. A host that was booted again with
 *   the same one is not asked again for its description.
 * @returns a function that returns the response of `send`
 * @throws {Error} for a response that the description does not cover; the message names the operation
 * @example
 * const send = asDescribed(fetch);
 * await send(`${url}/v1/runs`, { method: 'POST', headers, body });
 */
export function asDescribed(
  send: Send,
  configurationOf: (origin: string) => string = (origin) => origin,
): (input: string | Request, init?: RequestInit) => Promise<Response> {
  const descriptions = new Map<string, Promise<ApiDescription>>();

  function descriptionOf(origin: string, version: string): Promise<ApiDescription> {
    const key = `${configurationOf(origin)} ${version}`;
    const known = descriptions.get(key);
    if (known !== undefined) return known;
    const reading = readDescription(send, origin, version);
    descriptions.set(key, reading);
    // A host that was down is asked again by the next request.
    reading.catch(() => descriptions.delete(key));
    return reading;
  }

  return async (input, init) => {
    const request = new Request(input, init);
    const { method, url } = request;
    const response = await send(request);
    const version = response.headers.get('svc-version');
    // Only responses of the protocol name a version.
    if (version === null) return response;
    const { origin, pathname } = new URL(url);
    const problem = (await descriptionOf(origin, version)).problemOf(method, pathname, await seen(response));
    if (problem !== undefined) throw new Error(`${method} ${pathname}, major ${version}: ${problem}`);
    return response;
  };
}

/**
 * Wraps `fetch` so that every response under a mount is checked against the description of the mounts, as
 * {@link asDescribed} checks those of the protocol.
 *
 * @param send sends a request to one host; the description is read with it too
 * @param description the path of the description, such as `/host/example/openapi.json`
 * @returns a function that returns the response of `send`
 * @throws {Error} for a response that the description does not cover; the message names the operation
 */
export function asMountsDescribed(send: Send, description: string): (request: Request) => Promise<Response> {
  let reading: Promise<ApiDescription> | undefined;

  return async (request) => {
    const { method, url } = request;
    const response = await send(request);
    const { origin, pathname } = new URL(url);
    reading ??= described(send, new Request(origin + description), origin);
    const problem = (await reading).problemOf(method, pathname, await seen(response));
    if (problem !== undefined) throw new Error(`${method} ${pathname}: ${problem}`);
    return response;
  };
}

/** The checked parts of a response. The body of a stream is not read, because the caller reads it. */
interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly mediaType: string | undefined;
  readonly body: string | undefined;
}

async function seen(response: Response): Promise<Seen> {
  const { status, headers } = response;
  const mediaType = headers.get('content-type')?.split(';', 1)[0]?.trim();
  return { status, headers, mediaType, body: mediaType === STREAM ? undefined : await response.clone().text() };
}

const STREAM = 'text/event-stream';

interface ApiDescription {
  problemOf(method: string, path: string, answer: Seen): string | undefined;
}

function readDescription(send: Send, origin: string, version: string): Promise<ApiDescription> {
  const headers = { 'svc-version': version, 'svc-client-version': '999.0' };
  return described(send, new Request(`${origin}/openapi.json`, { headers }), origin);
}

async function described(send: Send, request: Request, origin: string): Promise<ApiDescription> {
  const response = await send(request);
  const text = await response.text();
  const { pathname } = new URL(request.url);
  if (response.status !== 200) throw new Error(`GET ${pathname}: the host does not serve its description: ${text}`);
  // Hosts with one configuration differ in their origin alone, which says nothing about a response.
  const shared = text.replaceAll(origin, 'https://host.test');
  const known = compiled.get(shared) ?? compile(shared);
  compiled.set(shared, known);
  return known;
}

/** Descriptions by their text: to compile one takes longer than to boot a host. */
const compiled = new Map<string, ApiDescription>();

function compile(text: string): ApiDescription {
  const document = JSON.parse(text) as Document;
  closeObjects(document);
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ ...document, $id: ROOT });
  const required = new Set(
    Object.keys(document.components.headers).filter((name) => document.components.headers[name]?.required),
  );
  const patterns = Object.keys(document.paths).map((path) => ({ path, pattern: patternOf(path) }));
  const validators = new Map<string, ValidateFunction>();
  const validatorOf = (pointer: string): ValidateFunction => {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `${ROOT}#${pointer}` });
    validators.set(pointer, known);
    return known;
  };

  return {
    problemOf(method, path, answer) {
      const found = patterns
        .filter(({ pattern }) => pattern.test(path) || pattern.test(`/v1${path}`))
        .sort((one, other) => literalLength(other.path) - literalLength(one.path))[0]?.path;
      const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
      const operation = found === undefined ? undefined : document.paths[found]?.[verb];
      if (found === undefined || operation === undefined) return problemWithoutOperation(answer);
      const pointer = ['paths', found, verb, 'responses', String(answer.status)];
      const described = operation.responses[answer.status];
      if (described === undefined) {
        const { operationId } = operation;
        return `${operationId} answered ${answer.status}, which its description does not list: ${answer.body}`;
      }
      const problem = problemOfAnswer(described, answer, method === 'HEAD', required, (type) =>
        validatorOf(pointerText([...pointer, 'content', type, 'schema'])),
      );
      return problem === undefined ? undefined : `${operation.operationId} ${answer.status}: ${problem}`;
    },
  };
}

const ROOT = 'https://description.test/openapi.json';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly headers: Readonly<Record<string, { readonly required?: boolean }>> };
}

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Described>>;
}

interface Described {
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, unknown>>;
}

/** The media type range of a media type: `application/*` for `application/json`. */
function rangeOf(mediaType: string | undefined): string | undefined {
  return mediaType?.replace(/\/.*$/, '/*');
}

function problemOfAnswer(
  described: Described,
  { headers, mediaType, body }: Seen,
  withoutBody: boolean,
  required: ReadonlySet<string>,
  validatorOf: (mediaType: string) => ValidateFunction,
): string | undefined {
  const names = Object.keys(described.headers ?? {});
  const missing = names.find((name) => required.has(name) && !headers.has(name));
  if (missing !== undefined) return `it lacks the header ${missing}`;
  const known = new Set(names.map((name) => name.toLowerCase()));
  const unknown = [...headers].find(([name, value]) => !known.has(name) && !PLAIN.has(name) && !isOfCors(name, value));
  if (unknown !== undefined) return `its header ${unknown[0]} is not described`;
  const types = Object.keys(described.content ?? {});
  if (types.length === 0) return body === '' ? undefined : `it has a body, but none is described: ${body}`;
  const type = types.find((each) => each === mediaType) ?? types.find((each) => each === rangeOf(mediaType));
  if (type === undefined) {
    return `its media type is ${mediaType}, but ${types.join(', ')} is described`;
  }
  if (withoutBody || body === undefined) return undefined;
  const validate = validatorOf(type);
  if (validate(parsed(body))) return undefined;
  const problems = validate.errors?.map(({ instancePath, message, params }) => {
    return `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`;
  });
  return `${problems?.slice(0, 8).join('; ')} in ${body.slice(0, 2000)}`;
}

function isOfCors(name: string, value: string): boolean {
  return name.startsWith('access-control-') || (name === 'vary' && value === 'Origin');
}

/** Headers that descriptions omit, beside those of CORS: those of HTTP itself, and an instruction to proxies, which they remove. */
const PLAIN: ReadonlySet<string> = new Set([
  'x-accel-buffering',
  ...['connection', 'content-encoding', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'],
]);

/** Checks the response to a path or method that is not described: it must be an error in the common envelope. */
function problemWithoutOperation({ status, body = '' }: Seen): string | undefined {
  if (!OUTSIDE.has(status)) return `status ${status} came from an operation that is not described`;
  const envelope = parsed(body);
  const isEnvelope =
    typeof envelope === 'object' &&
    envelope !== null &&
    'error' in envelope &&
    'message' in envelope &&
    Object.keys(envelope).every((key) => ['error', 'message', 'details', 'scopeRequired'].includes(key));
  return isEnvelope || body === '' ? undefined : `its body is not an error envelope: ${body}`;
}

const OUTSIDE: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 406, 413, 426, 429, 501, 503]);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Converts a path template to a pattern: `{name}` matches one segment, `{path}` one or more. */
function patternOf(path: string): RegExp {
  const parts = path.split(/(\{\w+\})/).map((part) => {
    if (part === '{path}') return '.+';
    return part.startsWith('{') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`);
}

/** Returns the number of literal characters. Of several matching paths, the most literal one is meant. */
function literalLength(path: string): number {
  return path.replace(/\{\w+\}/g, '').length;
}

function pointerText(steps: readonly string[]): string {
  return steps.map((step) => `/${encodeURIComponent(step.replace(/~/g, '~0').replace(/\//g, '~1'))}`).join('');
}

/**
 * Closes every object schema: a description allows members of later versions, a test must not. An `anyOf` beside
 * `properties` says only how members depend on each other, so it stays open.
 */
function closeObjects(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name !== 'anyOf' || !('properties' in value)) closeObjects(member);
  }
  if ('properties' in value && 'type' in value && value.type === 'object' && !('additionalProperties' in value)) {
    Object.assign(value, { additionalProperties: false });
  }
}
