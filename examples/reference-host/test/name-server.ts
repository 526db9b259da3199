import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A name server on loopback that knows texts alone, by their names. A name without a text does not exist. */
export async function startNameServer(texts: ReadonlyMap<string, string>) {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = [];
    let end = 12;
    for (let size = query[end] ?? 0; size !== 0; size = query[end] ?? 0) {
      labels.push(query.subarray(end + 1, end + 1 + size).toString());
      end += size + 1;
    }
    const isText = query.readUInt16BE(end + 1) === TXT;
    const text = isText ? texts.get(labels.join('.').toLowerCase()) : undefined;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(text === undefined ? NO_SUCH_NAME : FOUND, 2);
    header.writeUInt16BE(text === undefined ? 0 : 1, 6);
    header.writeUInt32BE(0, 8);
    const answer = text === undefined ? [] : [recordOf(text)];
    socket.send(Buffer.concat([header, query.subarray(12, end + 5), ...answer]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { address, port } = socket.address();
  return { address: `${address}:${port}`, stop: () => new Promise<void>((resolve) => socket.close(() => resolve())) };
}

const TXT = 16;
const FOUND = 0x8180;
const NO_SUCH_NAME = 0x8183;

/** A record of the name of the question: type TXT, class IN, no time to live, one text. */
function recordOf(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = [0xc0, 12, 0, TXT, 0, 1, 0, 0, 0, 0, 0, bytes.length + 1, bytes.length];
  return Buffer.concat([Buffer.from(head), bytes]);
}
