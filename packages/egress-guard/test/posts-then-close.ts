/** Sends requests to a port of this machine, and closes the poster. Argument: the port. Prints the verdicts when no socket and no timer is left. */
import { egressPolicy } from '../src/index.ts';
import { guardedPost } from '../src/node/post.ts';

const url = `http://127.0.0.1:${process.argv[2]}/`;
const held = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap' || name === 'Timeout');

const post = guardedPost({ policy: egressPolicy({ allowLoopback: true }) });
const sent = Array.from({ length: 20 }, () => post({ url, headers: {}, body: '{"a":1}', timeoutMs: 20_000 }));
const kinds = (await Promise.all(sent)).map(({ kind }) => kind);
post.close();
// Each turn of the loop is one of the event loop. A timer of its own would be counted.
while (held().length > 0) await new Promise((resolve) => setImmediate(resolve));
console.log(kinds.join(' '));
