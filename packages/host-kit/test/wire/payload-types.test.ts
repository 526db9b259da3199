import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { temporaryTree } from '@svc/tools/temporary-tree';
import { describe, expect, test } from 'vitest';
import { DELIVERY_JSON_SCHEMAS } from '../../src/wire/delivery-schema.ts';

describe('the payload types of @svc/webhook-verify and the published schemas', () => {
  test('agree in both majors', async () => {
    expect(await differences(schemas())).toEqual([]);
  });

  // Each difference shows in one place alone, so the comparison has to find it there.
  test('disagree when a schema has a type, a member or a value more or less', async () => {
    const changed = schemas();
    const payload = (major: 1 | 2, type: string) => found(changed[major].$defs[`payload.${type}`]);
    changed[2].$defs['payload.acme.shipped'] = { type: 'object' };
    delete changed[1].$defs['payload.trigger.delivery.attempted'];
    payload(2, 'run.paused').properties = { ...payload(2, 'run.paused').properties, since: { type: 'string' } };
    delete payload(1, 'cap.breached').properties?.observed;
    delete payload(2, 'cap.breached').properties?.observed;
    payload(2, 'node.skipped').required = [];
    payload(1, 'log.appended').properties = {
      ...payload(1, 'log.appended').properties,
      level: { type: 'string', enum: ['debug', 'info', 'warn', 'error', 'fatal'] },
    };
    const types = new Set((await differences(changed)).map(({ type }) => type));
    expect([...types].sort()).toEqual([
      ...['acme.shipped', 'cap.breached', 'log.appended', 'node.skipped', 'run.paused', 'trigger.delivery.attempted'],
    ]);
  });
});

/** The part of JSON Schema that describes payloads. */
interface Schema {
  readonly type?: string;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
}

interface Schemas {
  readonly 1: { readonly $defs: Record<string, Schema> };
  readonly 2: { readonly $defs: Record<string, Schema> };
}

interface Difference {
  readonly type: string;
  readonly message: string;
}

function schemas(): Schemas {
  return JSON.parse(JSON.stringify(DELIVERY_JSON_SCHEMAS));
}

/** Compiles the assignments between the types of the schemas and those of the package. */
async function differences({ 1: first, 2: second }: Schemas): Promise<Difference[]> {
  const inMajors = [payloadsOf(first.$defs), payloadsOf(second.$defs)] as const;
  const types = [...new Set([...inMajors[0].keys(), ...inMajors[1].keys()])];
  const lines = [
    `import type { EventPayloads } from ${JSON.stringify(PAYLOADS)};`,
    `interface Subject ${typeOf(found(second.$defs.subject))}`,
    ...inMajors.flatMap((payloads, index) => [
      `interface Major${index + 1} {`,
      ...[...payloads].map(([type, schema]) => `${JSON.stringify(type)}: ${typeOf(schema)};`),
      '}',
    ]),
    'type In<Payloads, Type> = Type extends keyof Payloads ? Payloads[Type] : never;',
    'type Sent = { [Type in keyof Major1 | keyof Major2]: In<Major1, Type> | In<Major2, Type> };',
    // `keyof` of a union has the members that all its parts have. These are the members of any part.
    'type Member<Payload> = Payload extends unknown ? keyof Payload : never;',
    'declare const sent: Sent;',
    'declare const typed: EventPayloads;',
    'declare const sentMembers: { [Type in keyof Sent]: Member<Sent[Type]> };',
    'declare const typedMembers: { [Type in keyof EventPayloads]: Member<EventPayloads[Type]> };',
  ];
  const about = new Map<number, string>();
  const assign = (type: string, target: string, value: string) => {
    about.set(lines.length + 1, type);
    lines.push(`export const at${lines.length}: ${target} = ${value};`);
  };
  for (const type of types) {
    const at = `[${JSON.stringify(type)}]`;
    assign(type, `EventPayloads${at}`, `sent${at}`);
    assign(type, `Sent${at}`, `typed${at}`);
    assign(type, `Member<EventPayloads${at}>`, `sentMembers${at}`);
    assign(type, `Member<Sent${at}>`, `typedMembers${at}`);
  }
  // A type that no schema describes has no line of its own: the compiler names it here.
  assign('', 'never', 'undefined as unknown as Exclude<keyof EventPayloads, keyof Sent>');
  const output = await compile(lines.join('\n'));
  return output.split(/\r?\n/).flatMap((line): Difference[] => {
    const [, at, message] = /^program\.ts\((\d+),\d+\): (error .*)$/.exec(line) ?? [];
    if (at === undefined || message === undefined) return [];
    const type = about.get(Number(at)) || (/Type '"([^"]+)"'/.exec(message)?.[1] ?? `line ${at}`);
    return [{ type, message }];
  });
}

function payloadsOf(definitions: Record<string, Schema>): Map<string, Schema> {
  const payloads = Object.entries(definitions).filter(([name]) => name.startsWith('payload.'));
  return new Map(payloads.map(([name, schema]) => [name.slice('payload.'.length), schema]));
}

/** Returns the TypeScript type of the values of a schema. A further member of an open object has no type. */
function typeOf({ type, properties, required = [], items, enum: values, anyOf, $ref }: Schema): string {
  if ($ref === '#/$defs/subject') return 'Subject';
  if ($ref !== undefined) throw new Error(`typeOf: does not know the reference ${$ref}. Add it.`);
  if (anyOf !== undefined) return `(${anyOf.map((part) => typeOf(part)).join(' | ')})`;
  if (values !== undefined) return `(${values.map((value) => JSON.stringify(value)).join(' | ')})`;
  switch (type) {
    case undefined:
      return 'unknown';
    case 'string':
    case 'boolean':
      return type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return `readonly ${typeOf(items ?? {})}[]`;
    case 'object':
      break;
    default:
      throw new Error(`typeOf: does not know the type ${type}. Add it.`);
  }
  if (properties === undefined) return 'Readonly<Record<string, unknown>>';
  const members = Object.entries(properties).map(
    ([name, schema]) => `readonly ${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)};`,
  );
  return `{ ${members.join(' ')} }`;
}

const PAYLOADS = fileURLToPath(new URL('../../../webhook-verify/src/events/payloads.ts', import.meta.url));
const TSC = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

/** Returns the output of the compiler, which is empty when the program is correct. */
async function compile(program: string): Promise<string> {
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: [] },
    ...{ module: 'nodenext', target: 'es2023', allowImportingTsExtensions: true },
  };
  const folder = temporaryTree({ 'program.ts': program, 'tsconfig.json': { compilerOptions, files: ['program.ts'] } });
  return new Promise((resolve, reject) => {
    execFile(execPath, [TSC, '-p', '.', '--pretty', 'false'], { cwd: folder }, (error, stdout, stderr) => {
      // The compiler ends with a status of its own when it has found errors.
      if (error === null || stdout.includes('error TS')) resolve(stdout);
      else reject(new Error(`The compiler did not run: ${stderr}`, { cause: error }));
    });
  });
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The schema has no such definition.');
  return value;
}
