import { negotiate, served } from '@svc/versioning';
import { alternate } from '../alternate.mjs';
import { printTable, rate } from '../table.mjs';

/** Negotiations a second on one core: of `POST /runs` with a version, and of each other request. */
const GOALS = { 'POST /runs, SVC-Version: 2': 5_000_000 };
const GOAL = 1_000_000;

/** Measures negotiations per second on one core, of requests in the form of `node:http`. The goal is a million, and five for a new run. */
export default function negotiation() {
  const protocol = served({ versions: ['1.1', '2.0'], preferred: '1.1', minClientVersion: '1.0' });
  const headers = {
    host: 'svc.example',
    'user-agent': 'x',
    accept: 'application/json',
    authorization: 'Bearer y',
    'content-type': 'application/json',
  };
  const requests = {
    'POST /runs, SVC-Version: 2': { method: 'POST', target: '/runs', headers: { ...headers, 'svc-version': '2' } },
    'GET /v1/runs/{runId}/events/poll?…': {
      method: 'GET',
      target: '/v1/runs/run_01m7/events/poll?lastSequence=4',
      headers,
    },
    'GET /runs/{tenant}%2F{id}, with a client version': {
      method: 'GET',
      target: '/runs/acme%2Frun_01m7',
      headers: { ...headers, 'svc-version': '2.0', 'svc-client-version': '1.4.0' },
    },
    'a page': { method: 'GET', target: '/assets/logo.svg', headers },
    'refused: SVC-Version: 3': { method: 'GET', target: '/runs/r', headers: { ...headers, 'svc-version': '3' } },
  };
  let kept;
  const found = alternate(
    Object.fromEntries(
      Object.entries(requests).map(([name, request]) => [name, () => (kept = negotiate(request, protocol))]),
    ),
  );
  printTable(
    ['negotiate', 'per second', 'of the goal'],
    Object.entries(found).map(([name, { perSecond }]) => [
      name,
      rate(perSecond),
      (perSecond / (GOALS[name] ?? GOAL)).toFixed(2),
    ]),
  );
  return { goal: GOAL, goals: GOALS, found, kept: kept !== undefined };
}
