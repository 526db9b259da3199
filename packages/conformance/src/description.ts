import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Answer } from './http/answer.ts';
import { jsonOf } from './http/answer.ts';
import { type Document, isRecord } from './target.ts';

/** Returns how an answer differs from the API description, as the end of "seen"; undefined when it does not differ. */
export type Differs = (answer: Answer, path: string) => string | undefined;

/** An answer whose operation the description does not have. */
export const NOT_DESCRIBED = 'an operation that is not described';

/** Reads an API description of one major. */
export function differences(description: Document): Differs {
  // Each schema is used a few times only, so that compiling it fast counts for more than fast code.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, code: { optimize: false } });
  ajv.addSchema({ ...description, $id: ROOT });
  const validators = new Map<string, ValidateFunction>();
  const required = requiredHeaders(description);
  const paths = Object.keys(recordIn(description, 'paths'))
    .map((path) => ({ path, pattern: patternOf(path), literal: path.replace(/\{[^}]+\}/g, '').length }))
    .sort((one, other) => other.literal - one.literal);

  return (answer, path) => {
    const verb = answer.sent.method === 'HEAD' ? 'get' : answer.sent.method.toLowerCase();
    const found = paths.find(({ pattern }) => pattern.test(path))?.path;
    const operation = found === undefined ? {} : recordIn(description, 'paths', found, verb);
    if (found === undefined || Object.keys(operation).length === 0) return NOT_DESCRIBED;
    const steps = ['paths', found, verb, 'responses', String(answer.status)];
    const described = recordIn(description, ...steps);
    if (Object.keys(described).length === 0) return `status ${answer.status}, which is not described`;
    const missing = Object.keys(recordIn(described, 'headers')).find(
      (name) => required.has(name) && answer.header(name) === undefined,
    );
    if (missing !== undefined) return `no header ${missing}`;
    const types = Object.keys(recordIn(described, 'content'));
    if (types.length === 0) return answer.text === '' ? undefined : 'a body where none is described';
    const given = answer.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
    const type = types.find((each) => each === given) ?? types.find((each) => each === given.replace(/\/.*$/, '/*'));
    if (type === undefined) return given === '' ? 'no media type' : `the media type ${given}, which is not described`;
    const isSeen = answer.sent.method !== 'HEAD' && /^application\/(?:[a-z0-9.+-]+\+)?json$/.test(given);
    if (!isSeen || recordIn(described, 'content', type).schema === undefined) return undefined;
    const pointer = pointerOf([...steps, 'content', type, 'schema']);
    try {
      const validate = validators.get(pointer) ?? ajv.compile({ $ref: `${ROOT}#${pointer}` });
      validators.set(pointer, validate);
      return validate(jsonOf(answer)) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'body' });
    } catch (error) {
      return `a schema that does not compile: ${error instanceof Error ? error.message : String(error)}`;
    }
  };
}

const ROOT = 'https://description.invalid/openapi.json';

/** A response names its headers by references to shared ones, or has them itself. */
function requiredHeaders(description: Document): ReadonlySet<string> {
  const shared = Object.entries(recordIn(description, 'components', 'headers'));
  return new Set(shared.filter(([, header]) => isRecord(header) && header.required === true).map(([name]) => name));
}

function recordIn(value: Document, ...steps: readonly string[]): Document {
  let at: unknown = value;
  for (const step of steps) at = isRecord(at) ? at[step] : undefined;
  return isRecord(at) ? at : {};
}

/** A path parameter matches one segment, and `{path}` one or more. The paths of major 1 have `/v1` in front. */
function patternOf(path: string): RegExp {
  const parts = path
    .replace(/^\/v1(?=\/)/, '')
    .split(/(\{[^}]+\})/)
    .map((part) => {
      if (part === '{path}') return '.+';
      return part.startsWith('{') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    });
  return new RegExp(`^${parts.join('')}$`);
}

/** @see RFC 6901 */
function pointerOf(steps: readonly string[]): string {
  return steps.map((step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');
}
