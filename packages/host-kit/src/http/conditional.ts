/** Whether an `If-None-Match` names the current representation. @see RFC 9110, section 13.1.2 */
export function matchesEtag(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header
    .split(',')
    .some((candidate) => candidate.trim() === '*' || candidate.trim().replace(/^W\//, '') === etag);
}
