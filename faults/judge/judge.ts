import { type Exchange, isRecord, jsonIn, type Said } from '../exchange.ts';
import { type Mutation, mutated } from '../mutation.ts';
import { falseValues } from './fixed.ts';
import { type Context, SENTENCES } from './sentences.ts';

/** The judgement of a mutation. */
export type Verdict =
  /** It breaks these sentences, by their ids in `docs/requirements.json`. */
  | { readonly outcome: 'breaks'; readonly requirements: readonly string[] }
  /** It changes nothing that the interface speaks of. */
  | { readonly outcome: 'keeps' }
  /** No sentence that the judge knows decides it. */
  | { readonly outcome: 'unjudged' }
  /** It changes no recorded exchange. */
  | { readonly outcome: 'same' };

/** Judges a mutation by the recorded exchanges that it applies to. The recorded ones count as right. */
export function judge(mutation: Mutation, exchanges: readonly Exchange[], context: Context): Verdict {
  const broken = new Set<string>();
  let changes = 0;
  let isHarmless = true;
  for (const exchange of exchanges) {
    const said = mutated(mutation, exchange, context.secretOf);
    if (JSON.stringify(said) === JSON.stringify(exchange.said)) continue;
    changes += 1;
    const after = { ...exchange, said };
    for (const requirement of brokenBy(exchange, after, context)) broken.add(requirement);
    isHarmless &&= saysTheSame(exchange.said, said);
  }
  if (broken.size > 0) return { outcome: 'breaks', requirements: [...broken] };
  if (changes === 0) return { outcome: 'same' };
  return { outcome: isHarmless ? 'keeps' : 'unjudged' };
}

/** Returns the sentences that a recorded exchange breaks. There should be none. */
export function brokenAsRecorded(exchange: Exchange, context: Context): readonly string[] {
  return SENTENCES.filter(({ isBroken }) => isBroken(exchange, context)).map(({ requirement }) => requirement);
}

function brokenBy(before: Exchange, after: Exchange, context: Context): readonly string[] {
  const direct = SENTENCES.filter(({ isBroken }) => isBroken(after, context) && !isBroken(before, context));
  return [
    ...direct.map(({ requirement }) => requirement),
    ...falseValues(before, after),
    ...contradictions(before, after),
  ];
}

/** Sentences about two exchanges: the first answer and its repetition, or the tag of one and the condition of the other. */
function contradictions({ kind, said, asked }: Exchange, after: Exchange): readonly string[] {
  const found: string[] = [];
  if (kind.detail === 'conditional' && said.status === 200 && after.said.status === 304) {
    found.push(
      kind.operation === 'GET /runs/{runId}' ? 'operations.runs.read-conditional' : 'discovery.document.not-modified',
    );
  }
  if (said.status === 304 && after.said.status === 200) found.push('discovery.document.not-modified');
  if (kind.detail === 'replayed') {
    if (after.said.headers['svc-idempotent-replay'] === undefined) found.push('operations.idempotency.replay-marker');
    if (after.said.status !== said.status || after.said.body !== said.body) found.push('operations.idempotency.kept');
  }
  // An artifact or a file is given as it was stored.
  const isContent =
    said.status === 200 && jsonIn(said.body) === undefined && asked.method === 'GET' && said.body !== '';
  if (isContent && kind.detail === '' && after.said.body !== said.body) {
    found.push(kind.operation.includes('/files/') ? 'operations.files.operations' : 'operations.artifacts.read');
  }
  return found;
}

/** Tells whether two messages differ only in a text for people, or in members that readers ignore. */
function saysTheSame(before: Said, after: Said): boolean {
  if (before.status !== after.status || JSON.stringify(before.headers) !== JSON.stringify(after.headers)) return false;
  return isExtended(jsonIn(before.body), jsonIn(after.body));
}

function isExtended(before: unknown, after: unknown): boolean {
  if (Array.isArray(before)) {
    return (
      Array.isArray(after) &&
      before.length === after.length &&
      before.every((item, index) => isExtended(item, after[index]))
    );
  }
  if (!isRecord(before)) return before === after;
  if (!isRecord(after)) return false;
  return Object.entries(before).every(([name, value]) => {
    const isForPeople = name === 'message' && typeof value === 'string';
    return isForPeople ? typeof after[name] === 'string' && after[name] !== '' : isExtended(value, after[name]);
  });
}
