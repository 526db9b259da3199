import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { summary } from '../alternate.mjs';
import { printTable, rate } from '../table.mjs';
import { KEY } from './fixtures.mjs';

const READERS = 200;
const ROUNDS = 5;
const EVENTS = 250;
const BACKLOG = 2500;
const PACED = { perSecond: 50, seconds: 5 };
const RUNS = { live: 'run_01k0000000000000000000001z', ended: 'run_01k0000000000000000000002z' };
const SERVERS = { 'node:http, bare loop': 'bare', ours: 'ours' };

/**
 * Measures events per second that reach 200 readers of one run over HTTP, with the server in a process of its own:
 * live, one event in each turn of the event loop, and from a stored log. The limit is a loop over `node:http` that
 * writes the same frames to every response, each at once and by itself, without any check. Also measures the latency to
 * all readers at 50 events per second.
 */
export default async function streams() {
  const servers = {};
  for (const [name, kind] of Object.entries(SERVERS)) servers[name] = await start(kind);
  const live = ratesOf(servers);
  const backlog = ratesOf(servers);
  const latency = {};
  const memory = {};
  try {
    for (const server of Object.values(servers)) server.readers = await readersOf(server, READERS, 'live');
    for (let round = 0; round <= ROUNDS; round += 1) {
      const measured = [];
      for (const [name, server] of Object.entries(servers)) {
        const each = await fanOut(server);
        measured.push(rate(each));
        // The first round does not count, because part of the code is not compiled yet.
        if (round > 0) live[name].push(each);
      }
      console.log(`round ${round} of ${ROUNDS}: ${measured.join(', ')}`);
    }
    for (const [name, server] of Object.entries(servers)) latency[name] = await paced(server);
    for (const [name, server] of Object.entries(servers)) memory[name] = await residentMiB(server);
    for (const server of Object.values(servers)) for (const reader of server.readers) reader.destroy();
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [name, server] of Object.entries(servers)) {
        const measured = await replay(server);
        if (round > 0) backlog[name].push(measured);
      }
    }
  } finally {
    for (const { process } of Object.values(servers)) process.kill();
  }
  const found = { live: summaries(live), backlog: summaries(backlog) };
  for (const [name, measured] of Object.entries(found)) print(name, measured);
  printTable(
    [`to ${READERS} readers at ${PACED.perSecond} a second`, 'median', '99 %', 'memory of the server'],
    Object.entries(latency).map(([name, { median, p99 }]) => [
      name,
      `${median.toFixed(1)} ms`,
      `${p99.toFixed(1)} ms`,
      `${memory[name]} MiB`,
    ]),
  );
  return { limit: 'node:http, bare loop', readers: READERS, found, latency, memory };
}

function ratesOf(servers) {
  return Object.fromEntries(Object.keys(servers).map((name) => [name, []]));
}

function summaries(rates) {
  return Object.fromEntries(Object.entries(rates).map(([name, values]) => [name, summary(values)]));
}

function print(name, found) {
  const limit = found['node:http, bare loop'].perSecond;
  printTable(
    [`events to readers, ${name}`, 'per second', 'of the bare loop', 'spread'],
    Object.entries(found).map(([each, { perSecond, spread }]) => [
      each,
      rate(perSecond),
      (perSecond / limit).toFixed(2),
      `${Math.round(spread * 100)} %`,
    ]),
  );
}

async function start(kind) {
  const process = fork(new URL('./streams-server.mjs', import.meta.url), [kind], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const [line] = await once(process.stdout, 'data');
  process.send({ fill: RUNS, events: BACKLOG });
  await once(process, 'message');
  return { process, port: Number(String(line).trim()) };
}

/** Connects readers that count frames and record their times. */
async function readersOf({ port }, count, run) {
  const readers = Array.from({ length: count }, () => {
    const socket = connect(port, '127.0.0.1');
    socket.frames = -1;
    socket.arrivals = [];
    const target = `/v1/runs/${RUNS[run]}/events?streamMode=debug`;
    socket.write(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${KEY}\r\n\r\n`);
    let isCut = false;
    socket.on('data', (arrived) => {
      // The two newlines at the end of a frame may arrive in two chunks.
      const bytes = isCut ? Buffer.concat([NEWLINE, arrived]) : arrived;
      let frames = 0;
      let end = 0;
      for (let at = bytes.indexOf('\n\n'); at !== -1; at = bytes.indexOf('\n\n', end)) {
        frames += 1;
        end = at + 2;
      }
      isCut = end < bytes.length && bytes.at(-1) === NEWLINE[0];
      socket.frames += frames;
      if (frames === 0) return;
      for (let count = 0; count < frames; count += 1) socket.arrivals.push(now());
      socket.emit('frames');
    });
    return socket;
  });
  // The first frame is the comment at the beginning of every stream.
  await Promise.all(readers.map((reader) => reached(reader, 0)));
  return readers;
}

const NEWLINE = Buffer.from('\n');

async function reached(reader, frames) {
  while (reader.frames < frames) await once(reader, 'frames');
}

async function fanOut({ process, readers }) {
  const target = readers[0].frames + EVENTS;
  const started = performance.now();
  process.send({ append: EVENTS });
  await Promise.all(readers.map((reader) => reached(reader, target)));
  return (EVENTS * READERS * 1000) / (performance.now() - started);
}

async function replay(server) {
  const started = performance.now();
  const readers = await readersOf(server, READERS, 'ended');
  await Promise.all(readers.map((reader) => reached(reader, BACKLOG)));
  const elapsed = performance.now() - started;
  for (const reader of readers) reader.destroy();
  return (BACKLOG * READERS * 1000) / elapsed;
}

async function residentMiB({ process }) {
  process.send({ weigh: true });
  const [{ resident }] = await once(process, 'message');
  return Math.round(resident / 2 ** 20);
}

/** Measures the latency of single events to each of the readers. */
async function paced({ process, readers }) {
  for (const reader of readers) reader.arrivals.length = 0;
  const from = readers[0].frames;
  process.send({ paced: PACED });
  const [{ appended }] = await once(process, 'message');
  await Promise.all(readers.map((reader) => reached(reader, from + appended.length)));
  const taken = readers.flatMap(({ arrivals }) => appended.map((at, index) => arrivals[index] - at));
  taken.sort((a, b) => a - b);
  const at = (share) => taken[Math.round((taken.length - 1) * share)];
  return { median: at(0.5), p99: at(0.99) };
}

/** Returns the time in ms on the clock that all processes of the machine share. */
function now() {
  return performance.timeOrigin + performance.now();
}
