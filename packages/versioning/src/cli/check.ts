import { parseArgs } from 'node:util';
import { defaultVersion } from '../client.ts';
import { CLIENT_VERSION_HEADER, VERSION_HEADER } from '../headers.ts';
import { DISCOVERY_PATH, MANIFEST, type Operation } from '../manifest.ts';
import { compareVersions, type Major, majorOf, parseVersion } from '../version.ts';
import { HOST_OPTIONS, hostReader } from './host-reader.ts';
import { type Ask, asker, described, type Finding, finding, majorIn, stamp } from './probe.ts';
import { probeRetirement, type RetirementProbe } from './probe-retirement.ts';
import { type Terminal, UsageError } from './terminal.ts';

export const CHECK_HELP = `Usage: svc-versioning check URL

Reads the discovery document of the host at URL, then probes the host: version headers, rejected requests, and whether
every operation that it serves under one advertised major is also served under the other. It compares the announcement of
the retirement of major 1 on every route with discovery and the API description, and its dates with the time. The probes have
no credential, so they change nothing on the host. With --key-file it also compares the counted callers of major 1 with the
dates.

Options:
  --at TIME        judges the dates at this RFC 3339 time, such as 2027-01-01T00:00:00Z (default: the Date of the host)
  --org NAME       the segment of /host/<org>/ (default example)
  --key-file FILE  holds a key with the scope audit:read for all workspaces, which reads the counts alone
  --json           prints the findings as JSON
  --timeout MS     limit of each request in milliseconds, 1 to 9999999 (default 5000)

Exit code: 0 every rule is kept, 1 a rule is violated, 2 wrong usage or no response from the host.
`;

/** Runs `svc-versioning check` and returns the exit code. */
export async function checkCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      timeout: { type: 'string', default: '5000' },
      at: { type: 'string' },
      org: HOST_OPTIONS.org,
      'key-file': HOST_OPTIONS['key-file'],
    },
  });
  const [url, ...others] = positionals;
  if (url === undefined || others.length > 0 || !URL.canParse(url))
    throw new UsageError('URL: must be one absolute URL. Pass the origin of a host, such as https://svc.example.');
  if (!/^[1-9][0-9]{0,6}$/.test(values.timeout))
    throw new UsageError('--timeout: must be milliseconds from 1 to 9999999. Pass a number such as 5000.');
  const { origin } = new URL(url);
  const at = timeOf(values.at);
  const report =
    values['key-file'] === undefined
      ? undefined
      : await hostReader({ url, org: values.org, 'key-file': values['key-file'] }, terminal);
  const ask = asker(origin, Number(values.timeout), terminal.fetch);
  const findings = await probe(ask, { at, report });
  const isKept = findings.every(({ ok }) => ok);
  if (values.json) terminal.stdout.write(`${JSON.stringify(findings, undefined, 2)}\n`);
  else {
    for (const { ok, rule, note } of findings)
      terminal.stdout.write(`${ok ? '✓' : '✗'} ${rule}${note === '' ? '' : `: ${note}`}\n`);
    terminal.stdout.write(
      isKept
        ? 'Every rule is kept.\n'
        : `${findings.filter(({ ok }) => !ok).length} of ${findings.length} rules are not kept.\n`,
    );
  }
  return isKept ? 0 : 1;
}

async function probe(ask: Ask, retirement: RetirementProbe): Promise<Finding[]> {
  const findings: Finding[] = [];
  const say = (rule: string, ok: boolean, note: string) => findings.push({ rule, ok, note: ok ? '' : note });

  const plain = await ask(DISCOVERY_PATH);
  const listed = versionsIn(plain.body.protocolVersions);
  say('discovery answers', plain.status === 200, `status ${plain.status}`);
  say(
    'every entry of protocolVersions has the form <major>.<minor>',
    listed !== undefined && listed.length > 0,
    JSON.stringify(plain.body.protocolVersions),
  );
  if (plain.status !== 200 || listed === undefined || listed.length === 0) return findings;
  const majors = [...new Set(listed.flatMap((text) => majorOf(parseVersion(text)?.major) ?? []))];
  const preferred = String(plain.body.preferredVersion ?? defaultVersion(plain.body));
  say('preferredVersion is one of protocolVersions', listed.includes(preferred), preferred);
  const expected: Major = majors.includes(1) ? 1 : 2;
  say(`preferredVersion is a ${expected}.x`, majorOf(parseVersion(preferred)?.major) === expected, preferred);
  say('a request without the header gets the preferred major', majorIn(plain) === expected, stamp(plain));

  for (const major of majors) findings.push(...(await probeDiscovery(ask, major)));
  if (majors.length === 2) findings.push(...(await probeTags(ask)));
  findings.push(...(await probeRefusals(ask, listed, majors, plain.body.minClientVersion)));
  if (majors.length === 2) findings.push(...(await probePairing(ask)));
  findings.push(...(await probeRetirement(ask, majors, retirement)));
  return findings;
}

async function probeDiscovery(ask: Ask, major: Major): Promise<Finding[]> {
  const answer = await ask(DISCOVERY_PATH, { [VERSION_HEADER]: String(major) });
  const full = await ask(DISCOVERY_PATH, { [VERSION_HEADER]: `${major}.0` });
  const etag = answer.headers.get('etag') ?? '';
  const again = await ask(DISCOVERY_PATH, { [VERSION_HEADER]: String(major), 'If-None-Match': etag });
  const of = `discovery of major ${major}`;
  return [
    finding(
      `${of} is answered by that major`,
      answer.status === 200 && majorIn(answer) === major,
      `${answer.status}, ${stamp(answer)}`,
    ),
    finding(`${of} is the same for ${major}.0`, full.headers.get('etag') === etag, stamp(full)),
    finding(`${of} has a strong ETag`, /^"[^"]+"$/.test(etag), etag),
    finding(
      `${of} answers 304 to its ETag, stamped`,
      again.status === 304 && majorIn(again) === major,
      `${again.status}, ${stamp(again)}`,
    ),
    finding(
      `${of} varies by ${VERSION_HEADER}`,
      listIn(answer.headers.get('vary')).includes(VERSION_HEADER.toLowerCase()),
      String(answer.headers.get('vary')),
    ),
  ];
}

/** Asks each major with the tag of the other. A 304 would make a cache serve the document of the wrong major. */
async function probeTags(ask: Ask): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [major, other] of [
    [1, 2],
    [2, 1],
  ] as const) {
    const { headers } = await ask(DISCOVERY_PATH, { [VERSION_HEADER]: String(other) });
    const tag = headers.get('etag') ?? '';
    const answer = await ask(DISCOVERY_PATH, { [VERSION_HEADER]: String(major), 'If-None-Match': tag });
    const rule = `discovery of major ${major} does not answer 304 to the ETag of major ${other}`;
    findings.push(finding(rule, answer.status === 200, `${answer.status} to ${tag}`));
  }
  return findings;
}

async function probeRefusals(
  ask: Ask,
  listed: readonly string[],
  majors: readonly Major[],
  minClientVersion: unknown,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const value of ['999', 'x', '01', '1,2']) {
    const answer = await ask(DISCOVERY_PATH, { [VERSION_HEADER]: value });
    const details = Object(answer.body.details);
    const isRight =
      answer.status === 406 &&
      answer.body.error === 'protocol_version_unsupported' &&
      sameTexts(details.protocolVersions, listed);
    findings.push(
      finding(
        `${VERSION_HEADER}: ${value} answers 406 with the list, stamped`,
        isRight && majorIn(answer) !== undefined,
        described(answer),
      ),
    );
  }
  if (majors.includes(1)) {
    const answer = await ask('/v1/runs/probe', { [VERSION_HEADER]: '2' });
    const isRight = answer.status === 400 && answer.body.error === 'protocol_version_mismatch';
    findings.push(finding('a /v1 path under another major answers 400', isRight, described(answer)));
  } else {
    const answer = await ask('/v1/runs/probe');
    findings.push(
      finding('no path under /v1 is served', answer.status === 404 && majorIn(answer) === undefined, described(answer)),
    );
  }
  const twin = await ask('/v2/runs/probe');
  findings.push(finding('there is no /v2', twin.status === 404 && majorIn(twin) === undefined, described(twin)));
  if (typeof minClientVersion === 'string') {
    const answer = await ask(DISCOVERY_PATH, { [CLIENT_VERSION_HEADER]: '0.0' });
    const isRight = answer.status === 426 && Object(answer.body.details).minClientVersion === minClientVersion;
    const floor = parseVersion(minClientVersion);
    const isZero = floor !== undefined && compareVersions(floor, { major: '0', minor: '0' }) === 0;
    findings.push(finding('a client below minClientVersion answers 426', isZero || isRight, described(answer)));
  }
  return findings;
}

/**
 * Compares the operations of both majors. An operation counts as served unless the host responds 404, 405 or 501;
 * without a credential a served operation responds 401.
 */
async function probePairing(ask: Ask): Promise<Finding[]> {
  const operations = MANIFEST.filter(({ majors }) => majors.includes(1) && majors.includes(2));
  const unpaired: string[] = [];
  let served = 0;
  for (const operation of operations) {
    const under = { 1: await isServed(ask, operation, 1), 2: await isServed(ask, operation, 2) };
    if (under[1] || under[2]) served += 1;
    if (under[1] !== under[2]) unpaired.push(`${operation.operationId} only under ${under[1] ? 1 : 2}`);
  }
  return [
    finding(
      `${served} operations are served alike under both majors, as far as a caller without a credential can see`,
      unpaired.length === 0,
      unpaired.join(', '),
    ),
  ];
}

async function isServed(ask: Ask, { method, path }: Operation, major: Major): Promise<boolean> {
  const place = path.replace(/\{[^}]+\}/g, 'probe');
  const isDiscovery = path === DISCOVERY_PATH;
  const target = major === 1 && !isDiscovery ? `/v1${place}` : place;
  const { status } = await ask(target, { [VERSION_HEADER]: String(major) }, method);
  return ![404, 405, 501].includes(status);
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new UsageError('--at: must be a time such as 2027-01-01T00:00:00Z.');
  return time;
}

function versionsIn(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((one): one is string => typeof one === 'string' && parseVersion(one) !== undefined);
  return texts.length === value.length ? texts : undefined;
}

function sameTexts(value: unknown, expected: readonly string[]): boolean {
  return Array.isArray(value) && value.length === expected.length && expected.every((text) => value.includes(text));
}

function listIn(value: string | null): string[] {
  return (value ?? '').split(',').map((name) => name.trim().toLowerCase());
}
