/** Returns whether two ASCII texts are equal. The time depends on the length only, not on the first difference. */
export function equalTexts(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let index = 0; index < left.length; index++) difference |= left.charCodeAt(index) ^ right.charCodeAt(index);
  return difference === 0;
}
