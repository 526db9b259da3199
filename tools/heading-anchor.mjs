/**
 * Makes the id of a heading the way that repository browsers do, so that links to headings work in both places.
 *
 * @param {string} heading
 */
export function anchorOf(heading) {
  const kept = heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '');
  return kept.replaceAll(' ', '-');
}
