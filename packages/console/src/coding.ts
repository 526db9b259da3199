/** A coding of the content of an answer. */
export type Coding = 'br' | 'gzip' | 'identity';

/**
 * Chooses the coding for a value of `Accept-Encoding`: Brotli before gzip, and none where neither is accepted. Weights
 * only tell accepted codings from refused ones (`q=0`), because all answers are compressed already.
 *
 * @param accepted null when the request has no such header
 */
export function codingFor(accepted: string | null): Coding {
  const weights = new Map((accepted ?? '').toLowerCase().split(',').map(weightOf));
  const isAccepted = (coding: Coding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0;
  if (isAccepted('br')) return 'br';
  return isAccepted('gzip') ? 'gzip' : 'identity';
}

function weightOf(entry: string): readonly [name: string, weight: number] {
  const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length);
  return [name, weight === undefined ? 1 : Number(weight)];
}
