/** Whether two ASCII texts of one length are the same. Looks at every character, wherever the first difference is. */
export function equalTexts(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let index = 0; index < left.length; index++) difference |= left.charCodeAt(index) ^ right.charCodeAt(index);
  return difference === 0;
}
