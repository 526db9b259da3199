import type { Major } from '@svc/versioning';
import { answerOf } from '../http/answer.ts';
import { inMajor } from '../http/description.ts';
import type { Call } from '../http/route.ts';
import type { OnServedRead, ServedRead } from '../http/served-read.ts';
import { isJsonObject, type Json } from '../json.ts';
import { jsonSchemaOf } from '../json-schema.ts';
import type { MirrorOptions } from '../options/mirror-options.ts';
import type { Clock } from '../ports/clock.ts';
import { sleep, yieldToLoop } from '../ports/clock.ts';
import { fraction, type Random } from '../ports/random.ts';
import { type Difference, differencesOf } from '../versions/differences.ts';
import type { MirrorReport, MirrorSkip } from '../versions/mirror-report.ts';
import { MIRRORED_READS, type MirroredRead, mirroredParams } from '../wire/mirrored-reads.ts';

export interface MirrorReadsOptions {
  readonly options: MirrorOptions;
  readonly report: MirrorReport;
  readonly random: Random;
  readonly clock: Clock;
}

/** Answers a share of the reads of one major again in the other one, and compares both answers. */
export interface MirrorReads {
  readonly onServed: OnServedRead;
  /** Begins no further comparison, and waits for those under way, for at most {@link END_MS}. */
  end(): Promise<void>;
}

/**
 * The second answer comes from the handler of the operation alone: the caller is not authenticated, limited, counted or
 * recorded again. Comparisons begin after the turn of the event loop in which the answer was handed over.
 */
export function mirrorReads({ options, report, random, clock }: MirrorReadsOptions): MirrorReads {
  const { share, maxConcurrent, majors } = options;
  const underWay = new Set<Promise<void>>();
  let ended = false;

  return {
    onServed(read) {
      const rule = MIRRORED_READS.get(read.route.operationId);
      if (ended || rule === undefined || !majors.includes(read.major) || fraction(random) >= share) return;
      if (underWay.size >= maxConcurrent) return report.skip('busy');
      const work = yieldToLoop()
        .then(() => compared(read, rule))
        .then((result) => {
          if (typeof result === 'string') report.skip(result);
          else report.add({ operation: read.route.operationId, major: read.major }, result);
        })
        .catch(() => report.skip('failed'))
        .finally(() => underWay.delete(work));
      underWay.add(work);
    },
    async end() {
      ended = true;
      const waiting = new AbortController();
      const late = sleep(clock, END_MS, waiting.signal).catch(() => {});
      await Promise.race([Promise.all(underWay), late]);
      waiting.abort();
    },
  };
}

/** A read takes less. One that hangs is left to the end of its store. */
export const END_MS = 5000;
/** Comparing is synchronous work: a longer answer would delay other requests. */
const LONGEST_BODY = 262_144;
const MOST_TRIES = 3;

async function compared(read: ServedRead, rule: MirroredRead): Promise<readonly Difference[] | MirrorSkip> {
  const { major, route, principal, query } = read;
  const { tenant } = principal.tenancy;
  const other: Major = major === 1 ? 2 : 1;
  if (read.body.length > LONGEST_BODY) return 'too-large';
  const body = parsed(read.body);
  if (rule.isImmediate?.(body) === false) return 'waits';
  const params = mirroredParams(read.params, { tenant, from: major, to: other });
  const asked = rule.queryIn[other](query);
  if (params === undefined || asked === undefined) return 'unmapped';
  const names = namesOf(read);
  const differ = (mine: Json, theirs: Json | 'refused'): readonly Difference[] => {
    if (theirs === 'refused') return [{ pointer: '', kind: 'refused' }];
    const both = major === 1 ? { 1: mine, 2: theirs } : { 1: theirs, 2: mine };
    const alike = rule.alike(both, tenant);
    return differencesOf(alike[1], alike[2], names);
  };
  const askAgain = () => answered(route.serve(callOf(read, major, read.params, query)));
  const askOther = () => answered(route.serve(callOf(read, other, params, asked)));

  const first = await askOther();
  if (first === undefined) return 'failed';
  if (differ(body, first).length === 0) return [];
  // The state may have changed between the reads. A difference counts only between two equal reads of the caller's major.
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const before = await askAgain();
    const theirs = await askOther();
    const after = await askAgain();
    if (before === undefined || theirs === undefined || after === undefined) return 'failed';
    if (before === 'refused' || JSON.stringify(before) !== JSON.stringify(after)) continue;
    return differ(before, theirs);
  }
  return 'changed';
}

/** Returns the JSON of an answer; `refused` for a refusal, and undefined for a failure of the host or another form. */
async function answered(reply: ReturnType<ServedRead['route']['serve']>): Promise<Json | 'refused' | undefined> {
  try {
    const { status, body } = answerOf(await reply);
    if (body instanceof ReadableStream) void body.cancel();
    if (status !== 200 || body === undefined || body instanceof ReadableStream) return undefined;
    return body.length > LONGEST_BODY ? undefined : parsed(body);
  } catch (error) {
    const status: unknown = Reflect.get(Object(error), 'status');
    // A limit is reached by the state of the host, and says nothing about the majors.
    return typeof status === 'number' && status < 500 && status !== 429 ? 'refused' : undefined;
  }
}

function parsed(body: ServedRead['body']): Json {
  return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
}

/** The request in the form of a major. It has no header: neither a condition nor a choice of a media type. */
function callOf(
  { principal, decided }: ServedRead,
  major: Major,
  params: Call['params'],
  query: URLSearchParams,
): Call {
  return {
    ...{ major, params, query, principal, decided },
    headers: new Headers(),
    json: undefined,
    gone: () => new AbortController().signal,
    judgeAgain: async () => undefined,
    keyName: undefined,
    keep: async () => {
      throw new Error('A mirrored read stored a reply.');
    },
  };
}

/** The names that both majors define for the answer. They are found once for each operation. */
function namesOf({ route }: ServedRead): ReadonlySet<string> {
  const known = NAMES.get(route);
  if (known !== undefined) return known;
  const names = new Set<string>();
  for (const major of [1, 2] as const) {
    const schema = inMajor(route.describes.answers, major)[200]?.content['application/json']?.[major];
    if (schema !== undefined) collect(JSON.parse(JSON.stringify(jsonSchemaOf(schema))), names);
  }
  NAMES.set(route, names);
  return names;
}

/** Adds the names of the properties that a JSON Schema defines anywhere. */
function collect(schema: Json, names: Set<string>): void {
  if (Array.isArray(schema)) for (const each of schema) collect(each, names);
  if (!isJsonObject(schema)) return;
  const { properties } = schema;
  if (isJsonObject(properties)) for (const name of Object.keys(properties)) names.add(name);
  for (const each of Object.values(schema)) if (each !== undefined) collect(each, names);
}

const NAMES = new WeakMap<ServedRead['route'], ReadonlySet<string>>();
