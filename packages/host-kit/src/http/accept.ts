/**
 * Whether a caller would rather have one media type than JSON. Where both are as welcome, JSON stays.
 *
 * @see RFC 9110, section 12.5.1
 */
export function prefersOverJson(accept: string | null, mediaType: string): boolean {
  if (accept === null) return false;
  const ranges = accept.split(',').map(rangeOf);
  return weightOf(mediaType, ranges) > weightOf('application/json', ranges);
}

interface Range {
  readonly type: string;
  readonly weight: number;
}

function rangeOf(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return { type, weight: /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/.test(quality) ? Number(quality) : 0 };
}

/** The most specific range that names the type decides. */
function weightOf(mediaType: string, ranges: readonly Range[]): number {
  const candidates = [mediaType, `${mediaType.split('/', 1)[0]}/*`, '*/*'];
  for (const candidate of candidates) {
    const found = ranges.find(({ type }) => type === candidate);
    if (found !== undefined) return found.weight;
  }
  return 0;
}
