/**
 * Says which Node the command needs. Below it, Node would end with the stack of an error in a dependency.
 *
 * @param version the running Node, such as `22.19.0`
 * @returns the sentence for the user; undefined when the running Node is new enough
 */
export function belowNodeFloor(command: string, version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return undefined;
  return `${command}: needs Node 22.19 or later, and this is Node ${version}. Install a newer Node.`;
}
