/**
 * Inflates data in the ZLIB format, as far as a limit. It uses the runtime's `DecompressionStream`, which verifies the
 * checksum and rejects bytes after the end.
 *
 * @throws {Error} for malformed or truncated data, and for data that inflates to more bytes, which is not inflated further
 * @see RFC 1950; RFC 1951
 */
export async function inflated(data: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const { readable, writable } = new DecompressionStream('deflate');
  const writer = writable.getWriter();
  // The reader gets the same error. Unhandled, that of a writer would end the process.
  writer.write(new Uint8Array(data)).catch(() => {});
  writer.close().catch(() => {});
  const reader = readable.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let read = await nextOf(reader); read !== undefined; read = await nextOf(reader)) {
    length += read.length;
    if (length > maxBytes) {
      await reader.cancel().catch(() => {});
      throw new Error(`The list inflates to more than ${maxBytes} bytes. Raise maxListBytes, or use smaller lists.`);
    }
    chunks.push(read);
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

async function nextOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | undefined> {
  try {
    return (await reader.read()).value;
  } catch (cause) {
    throw new Error('The list is not data in the ZLIB format.', { cause });
  }
}
