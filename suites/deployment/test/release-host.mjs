import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { createInterface } from 'node:readline';

/** A key of the caller. */
export const KEY = 'operator_brought_key_of_enough_characters';
const HEADERS = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
const CLIENTS = 8;

/** Starts a host of a release, and waits for its ready line. */
export async function startHost([program, ...args], file, config) {
  writeFileSync(file, JSON.stringify(config));
  const child = spawn(program, [...args, '--config', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
  const log = [];
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
  const end = (signal) => {
    child.kill(signal);
    return ended;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = JSON.parse(line);
    const ask = async (path, init, status) => {
      const response = await fetch(url + path, { headers: HEADERS, ...init });
      const text = await response.text();
      if (response.status !== status) throw new Error(`${path} answered ${response.status}: ${text}`);
      return JSON.parse(text);
    };
    const post = (path, body) => ask(path, { method: 'POST', body: JSON.stringify(body) }, 201);
    return {
      get: (path) => ask(path, {}, 200),
      post,
      subscribe: (to) => post('/v1/webhooks', { url: to, events: ['run.completed'], tenantId: 'acme-prod' }),
      stop: () => end('SIGTERM'),
      kill: () => end('SIGKILL'),
    };
  }
  throw new Error(`The host ended with ${await ended}: ${log.join('\n')}`);
}

/** Starts a receiver that notes the runs of the events that it accepts. */
export async function startReceiver() {
  const completed = new Set();
  const server = createServer((message, response) => {
    let text = '';
    message.on('data', (chunk) => {
      text += chunk;
    });
    message.on('end', () => {
      completed.add(JSON.parse(text).runId);
      response.writeHead(204).end();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  return {
    ...{ port, url: `http://127.0.0.1:${port}/`, completed },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Starts clients that keep their connections, and go to the next port when one accepts none. */
export function startClients(ports) {
  const seen = { created: [], cut: [], others: [] };
  let isOver = false;
  const one = async (first) => {
    const agents = ports.map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
    for (let at = first % ports.length; !isOver; ) {
      try {
        const { status, text } = await createRun(ports[at], agents[at]);
        if (status === 201) {
          seen.created.push(JSON.parse(text).runId);
          await pause();
          continue;
        }
        // A host that starts answers 503 until it is ready.
        if (status !== 503) seen.others.push(`${status} ${text}`);
      } catch (error) {
        if (error.code !== 'ECONNREFUSED') seen.cut.push(`${error}`);
      }
      at = (at + 1) % ports.length;
      await pause();
    }
    for (const agent of agents) agent.destroy();
  };
  const running = Promise.all(Array.from({ length: CLIENTS }, (_, index) => one(index)));
  return {
    seen,
    /** Waits until another 40 runs are created. */
    async busy() {
      const until = seen.created.length + 40;
      while (seen.created.length < until) await pause();
    },
    async end() {
      isOver = true;
      await running;
    },
  };
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

function createRun(port, agent) {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, method: 'POST', path: '/v1/runs', headers: HEADERS, agent }, (response) => {
      let text = '';
      response.on('error', reject).on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, text }));
    })
      .on('error', reject)
      .end(JSON.stringify({ workflowId: 'echo' }));
  });
}
