import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Schema, Validator } from '@cfworker/json-schema';
import { isRecord } from '../exchange.ts';

/** The published documents that messages are held to. */
export interface Documents {
  /** Versions that the host lists, by major. */
  readonly versions: Readonly<Record<number, string>>;
  /** Paths of both API descriptions. */
  readonly paths: readonly string[];
  /** Returns the methods of a path, in upper case. */
  methodsOf(path: string, major: number): readonly string[];
  /** Returns the description of an answer, or undefined when the operation or the status is not described. */
  answerOf(operation: string, major: number, status: number): DescribedAnswer | undefined;
  /** Tells whether an operation is described. */
  describes(operation: string, major: number): boolean;
  /** Tells whether a value fits a published schema. */
  fits(schema: 'discovery' | 'webhook-delivery', major: number, value: unknown): boolean;
}

/** The description of an answer. */
export interface DescribedAnswer {
  readonly requiredHeaders: readonly string[];
  readonly mediaTypes: readonly string[];
  /** Tells whether a JSON body fits the description. */
  fits(mediaType: string, body: unknown): boolean;
}

/** Reads the descriptions from the host, and the schemas from the packages. */
export async function readDocuments(url: string): Promise<Documents> {
  const read = async (path: string, major: number) =>
    (await fetch(`${url}${path}`, { headers: { 'SVC-Version': String(major) } })).text();
  const discovery = record(JSON.parse(await read('/.well-known/svc', 2)));
  const listed = Array.isArray(discovery.protocolVersions) ? discovery.protocolVersions.map(String) : [];
  return documentsOf(listed, { 1: await read('/v1/openapi.json', 1), 2: await read('/openapi.json', 2) });
}

/** Makes the documents from the texts of the API descriptions. */
export function documentsOf(listed: readonly string[], texts: Readonly<Record<1 | 2, string>>): Documents {
  const descriptions = { 1: description(texts[1]), 2: description(texts[2]) };
  const of = (major: number) => (major === 1 ? descriptions[1] : descriptions[2]);
  const schemas = new Map<string, Fits>();
  return {
    versions: Object.fromEntries(listed.map((version) => [Number(version.split('.', 1)[0]), version])),
    paths: [1, 2].flatMap((major) => Object.keys(of(major).paths)),
    methodsOf: (path, major) =>
      Object.keys(of(major).paths[path] ?? {})
        .filter((name) => VERBS.includes(name))
        .map((name) => name.toUpperCase()),
    describes: (operation, major) => of(major).operationOf(operation) !== undefined,
    answerOf: (operation, major, status) => of(major).answerOf(operation, status),
    fits(name, major, value) {
      const key = `v${major}/${name}`;
      const validate = schemas.get(key) ?? published(key);
      schemas.set(key, validate);
      return validate(value);
    },
  };
}

const VERBS: readonly string[] = ['get', 'put', 'post', 'delete', 'patch'];

type Fits = (value: unknown) => boolean;

function published(key: string): Fits {
  const file = fileURLToPath(new URL(`../../packages/host-kit/schemas/${key}.schema.json`, import.meta.url));
  return fitting(JSON.parse(readFileSync(file, 'utf8')));
}

/** Compiles a schema. Its validator is of another make than that of the suite. */
function fitting(schema: Schema): Fits {
  const validator = new Validator(schema, '2020-12');
  // There is no value where the text is not JSON.
  return (value) => value !== undefined && validator.validate(value).valid;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  operationOf(operation: string): Readonly<Record<string, unknown>> | undefined;
  answerOf(operation: string, status: number): DescribedAnswer | undefined;
}

function description(text: string): Description {
  // References lead to the place of definitions in JSON Schema, so that each schema can stand alone.
  const document = record(JSON.parse(text.replaceAll('"#/components/schemas/', '"#/$defs/')));
  const definitions = record(record(document.components).schemas);
  const headers = record(record(document.components).headers);
  const paths = Object.fromEntries(
    Object.entries(record(document.paths)).map(([path, item]) => [path.replace(/^\/v1(?=\/)/, ''), record(item)]),
  );
  const known = new Map<string, DescribedAnswer>();

  const operationOf = (operation: string) => {
    const [method = '', path = ''] = operation.split(' ');
    const found = paths[path]?.[method.toLowerCase()];
    return isRecord(found) ? found : undefined;
  };
  return {
    paths,
    operationOf,
    answerOf(operation, status) {
      const described = record(operationOf(operation)?.responses)[String(status)];
      if (!isRecord(described)) return undefined;
      const key = `${operation} ${status}`;
      const before = known.get(key);
      if (before !== undefined) return before;
      const validators = new Map<string, Fits>();
      const made: DescribedAnswer = {
        requiredHeaders: Object.keys(record(described.headers)).filter(
          (name) => record(headers[name]).required === true,
        ),
        mediaTypes: Object.keys(record(described.content)),
        fits(mediaType, body) {
          const schema = record(record(record(described.content)[mediaType]).schema);
          const validate = validators.get(mediaType) ?? fitting({ ...schema, $defs: definitions });
          validators.set(mediaType, validate);
          return validate(body);
        },
      };
      known.set(key, made);
      return made;
    },
  };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
