import { createReadStream } from 'node:fs';

/**
 * Reads the lines of a file as bytes, each with the line feed that ends it. A line ends at a line feed alone:
 * `node:readline` would also end it at U+2028, which is valid inside a JSON string.
 *
 * @param most the longest line in bytes; a longer one is yielded as soon as it is exceeded, and ends the reading
 */
export async function* byteLines(path: string, most: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 })) {
    const bytes: Buffer = chunk;
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      yield Buffer.concat([...parts, bytes.subarray(start, end + 1)]);
      parts = [];
      length = 0;
      start = end + 1;
    }
    if (start === bytes.length) continue;
    parts.push(bytes.subarray(start));
    length += bytes.length - start;
    if (length > most) return yield Buffer.concat(parts);
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}

const LF = 0x0a;
