/** Decodes a path segment; undefined for one that is not percent-encoded UTF-8. */
export function decodedSegment(segment: string | undefined): string | undefined {
  try {
    return decodeURIComponent(segment ?? '');
  } catch {
    return undefined;
  }
}
