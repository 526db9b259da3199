import { VERSION_HEADER } from '../headers.ts';
import { DISCOVERY_PATH, MANIFEST } from '../manifest.ts';
import type { Major } from '../version.ts';
import type { HostReader } from './host-reader.ts';
import { type Answer, type Ask, type Finding, finding, majorIn } from './probe.ts';
import { reportedUses } from './reported-callers.ts';
import { type Announcement, announcementIn, datesOf, isAlike, shown } from './retirement-announcement.ts';

/** The parts of a host and the time with which the retirement of major 1 is compared. */
export interface RetirementProbe {
  /** The time at which dates are judged, in milliseconds since the epoch. Undefined: the `Date` of the host. */
  readonly at: number | undefined;
  /** Reads the counts of callers. Undefined: they are not compared. */
  readonly report: HostReader | undefined;
}

/**
 * Probes whether the parts of a host agree about the retirement of major 1: the headers of every route, discovery, the API
 * description, the time, and the counted callers.
 *
 * @see RFC 9745 (Deprecation), RFC 8594 (Sunset)
 */
export async function probeRetirement(
  ask: Ask,
  majors: readonly Major[],
  { at, report }: RetirementProbe,
): Promise<Finding[]> {
  const discovery = await ask(DISCOVERY_PATH, { [VERSION_HEADER]: majors.includes(1) ? '1' : '2' });
  const announced = majors.includes(1) ? announcementIn(discovery.headers) : undefined;
  const dates = announced === undefined ? {} : datesOf(announced);
  const time = at ?? Date.parse(discovery.headers.get('date') ?? '');
  const routes = await routesOf(ask, majors);
  const findings = majors.includes(1)
    ? [...alike(routes, announced), ...dated(announced, dates, time), ...(await inDescription(ask, announced))]
    : [gone(routes)];
  findings.push(silent(routes));
  if (report !== undefined) findings.push(...(await inReport(report, dates.sunsetAt)));
  return findings;
}

/** An answer of a route, with a name for it. */
interface Route {
  readonly name: string;
  readonly answer: Answer;
}

/** Asks every route by which a caller reaches a major: paths with and without `/v1`, and a request without a version. */
async function routesOf(ask: Ask, majors: readonly Major[]): Promise<Route[]> {
  const routes: Route[] = [];
  const probe = async (name: string, ...request: Parameters<Ask>) => {
    routes.push({ name, answer: await ask(...request) });
  };
  for (const { operationId, method, path, majors: defined } of MANIFEST) {
    const place = path.replace(/\{[^}]+\}/g, 'probe');
    if (defined.includes(1) && path !== DISCOVERY_PATH)
      await probe(`${operationId} under /v1`, `/v1${place}`, {}, method);
    for (const major of majors.filter((one) => defined.includes(one)))
      await probe(`${operationId} of major ${major}`, place, { [VERSION_HEADER]: String(major) }, method);
  }
  await probe('a request without a version', '/runs/probe');
  await probe('a request of an unknown version', '/runs/probe', { [VERSION_HEADER]: '999' });
  return routes;
}

/** Routes that the host does not serve have no stamp, and announce nothing. */
function alike(routes: readonly Route[], announced: Announcement | undefined): Finding[] {
  const different = routes
    .filter(({ answer }) => majorIn(answer) === 1 && !isAlike(announcementIn(answer.headers), announced))
    .map(({ name, answer }) => `${name} has ${shown(announcementIn(answer.headers))}`);
  const note = `discovery has ${shown(announced)}, ${listed(different)}`;
  return [finding('every route of major 1 announces its retirement as discovery does', different.length === 0, note)];
}

function dated(
  announced: Announcement | undefined,
  { deprecatedAt, sunsetAt }: ReturnType<typeof datesOf>,
  time: number,
): Finding[] {
  const { deprecation, sunset } = announced ?? {};
  const isFormed =
    (deprecation === undefined || deprecatedAt !== undefined) && (sunset === undefined || sunsetAt !== undefined);
  const isOrdered = deprecatedAt === undefined || sunsetAt === undefined || sunsetAt >= deprecatedAt;
  const isOver = sunsetAt !== undefined && !(time < sunsetAt);
  const now = Number.isNaN(time) ? 'the host sends no Date, so pass --at' : new Date(time).toISOString();
  return [
    finding('the dates of the retirement are a Deprecation and a Sunset in their forms', isFormed, shown(announced)),
    finding(
      'a Sunset is announced together with a Deprecation',
      sunset === undefined || deprecation !== undefined,
      shown(announced),
    ),
    finding('the sunset of major 1 is not before its deprecation', isOrdered, shown(announced)),
    finding('major 1 is not served after its sunset', !isOver, `it is served, ${shown(announced)}, and it is ${now}`),
  ];
}

/** The API description tells the headers of each response. A host that keeps it from callers without a credential passes. */
async function inDescription(ask: Ask, announced: Announcement | undefined): Promise<Finding[]> {
  const { status, body } = await ask('/v1/openapi.json', { [VERSION_HEADER]: '1' });
  if (status !== 200) return [];
  const wrong: string[] = [];
  for (const [path, item] of entriesOf(body.paths)) {
    // A path without /v1 belongs to both majors, and other paths to none.
    if (!path.startsWith('/v1/')) continue;
    for (const [method, operation] of entriesOf(item)) {
      if (!METHODS.has(method)) continue;
      const responses = entriesOf(Object(operation).responses).map(([, response]) => headerNames(response));
      const isTold = responses.some((names) => names.has('deprecation'));
      if (isTold !== (announced !== undefined)) wrong.push(`${method.toUpperCase()} ${path}`);
    }
  }
  const note = `discovery has ${shown(announced)}, unlike the description of ${listed(wrong)}`;
  const rule = 'the API description of major 1 has the headers of its retirement when they are sent';
  return [finding(rule, wrong.length === 0, note)];
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);

function headerNames(response: unknown): ReadonlySet<string> {
  return new Set(entriesOf(Object(response).headers).map(([name]) => name.toLowerCase()));
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

/** A host of major 2 alone has retired major 1. */
function gone(routes: readonly Route[]): Finding {
  const served = routes
    .filter(({ name, answer }) => name.endsWith(' under /v1') && ![404, 410].includes(answer.status))
    .map(({ name, answer }) => `${name} answers ${answer.status}`);
  return finding(
    'no operation of major 1 is served, because discovery lists none',
    served.length === 0,
    listed(served),
  );
}

function silent(routes: readonly Route[]): Finding {
  const announcing = routes
    .filter(({ answer }) => majorIn(answer) === 2 && announcementIn(answer.headers) !== undefined)
    .map(({ name, answer }) => `${name} has ${shown(announcementIn(answer.headers))}`);
  return finding('no answer of major 2 announces a retirement', announcing.length === 0, listed(announcing));
}

/** Requests are counted while they are read, so the callers are compared with the days before and after. */
async function inReport(read: HostReader, sunsetAt: number | undefined): Promise<Finding[]> {
  const { before, requests, after, lastAt } = await reportedUses(read);
  const [least, most] = [Math.min(before.requests, after.requests), Math.max(before.requests, after.requests)];
  const total = least === most ? `${least}` : `${least} to ${most}`;
  const findings = [
    finding(
      'the report of callers counts each request of major 1 that the report of days counts',
      requests >= least && requests <= most,
      `its callers have ${requests} requests, and the days ${total}`,
    ),
  ];
  if (sunsetAt === undefined) return findings;
  const last = Math.max(lastAt, after.lastDayAt);
  const note = `the last one is of ${last > 0 ? new Date(last).toISOString() : ''}`;
  return [...findings, finding('no request of major 1 is counted after its sunset', last <= sunsetAt, note)];
}

function listed(names: readonly string[]): string {
  const more = names.length > SHOWN ? `, and ${names.length - SHOWN} more` : '';
  return `${names.slice(0, SHOWN).join(', ')}${more}`;
}

const SHOWN = 5;
