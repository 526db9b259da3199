import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import { hasFunctions } from '../../known-options.ts';

/**
 * A schema of inputs or outputs: one of zod 4.2 or later, or of another library that implements Standard Schema and
 * Standard JSON Schema. It must validate at once, without a promise.
 *
 * @see https://standardschema.dev
 */
export interface Schema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The type of what a schema accepts. */
export type InferInput<S extends Schema> = NonNullable<S['~standard']['types']>['input'];
/** The type of what a schema returns. */
export type InferOutput<S extends Schema> = NonNullable<S['~standard']['types']>['output'];

/** A reason for which a schema rejects a value. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The verdict of a schema on a value. */
export type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** Whether a value implements Standard Schema and Standard JSON Schema. */
export function isSchema(value: unknown): value is Schema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard: unknown = Reflect.get(value, '~standard');
  if (typeof standard !== 'object' || standard === null) return false;
  return hasFunctions(standard, 'validate') && hasFunctions(Reflect.get(standard, 'jsonSchema'), 'input');
}

/** Validates a value. */
export function validate<S extends Schema>(schema: S, value: unknown): Validated<InferOutput<S>> {
  const validated = schema['~standard'].validate(value);
  if (!(validated instanceof Promise)) return validated;
  // No other code handles a rejection of this promise.
  validated.catch(() => {});
  throw new TypeError('schema: validates with a promise. Use a schema without asynchronous parts.');
}

/** The place of an issue, for example `inputs.items.0.sku`. */
export function placeOf(root: string, { path = [] }: SchemaIssue): string {
  const names = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return [root, ...names].join('.');
}

/** The JSON Schema (draft 2020-12) of what a schema accepts. */
export function jsonSchemaOf(schema: Schema): JsonObject {
  const found = JSON.parse(JSON.stringify(schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }))) as Json;
  return isJsonObject(found) ? found : {};
}
