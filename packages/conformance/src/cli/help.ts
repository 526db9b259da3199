import { KEY_MEANINGS, KEY_NAMES, KEY_VARIABLES, keyOption } from '../keys.ts';
import { PROFILES } from '../profiles.ts';

const WIDTH = 26;

const keys = KEY_NAMES.map((name) => {
  const option = `--${keyOption(name)} KEY`.padEnd(WIDTH);
  return `  ${option}${KEY_VARIABLES[name]}: ${KEY_MEANINGS[name]}`;
}).join('\n');

const profiles = Object.entries(PROFILES)
  .map(([name, { meaning }]) => `  ${name.padEnd(WIDTH)}${meaning}`)
  .join('\n');

export const HELP = `Usage: svc-conformance URL [OPTIONS]
       svc-conformance --list [--markdown]
       svc-conformance --fixtures
       svc-conformance --verify FILE --public-key ID=KEY
       svc-conformance --help

Tests the host whose origin is URL against the protocol, over HTTP alone. The suite creates runs and subscriptions in
the workspace of its keys, and cancels or unregisters them afterwards: use a workspace and keys made for it.
A check is skipped, with the reason, when the host does not advertise the capability that it tests, or when an option
that it needs is missing. A skipped check does not count as passed.

Keys. All are optional; without --key, only public operations and refusals are tested. Other users of the machine can
read arguments, so pass keys in the environment or in a configuration file:
${keys}

Workspace of the keys:
  --workspace NAME          the workspace of --key; needed only when the host does not name it as the owner of a run
  --workflow NAME=ID        run the workflow ID of the host in place of the fixture NAME; NAME=ID#NODE also names the
                            node at which its runs wait; repeat the option. --fixtures describes the fixtures
  --artifact-workflow ID    a workflow that makes an artifact of its input "content"

Receiver of deliveries. The host must be able to reach it and must allow its address:
  --receiver-host HOST      listen on this host name or address (default 127.0.0.1)
  --receiver-port PORT      listen on this port (default 0: a free port)
  --receiver-url URL        the receiver's URL as the host sees it, such as the https URL of a proxy
  --no-receiver             start no receiver; checks of deliveries are skipped

Settings of the host, in ms. Checks that wait for the circuit or the keep-alive are skipped unless their setting is
given and at most 15000, as the interface's own values are too long to wait for:
  --attempt-timeout-ms N    time limit of one delivery attempt (default 5000)
  --circuit-cooldown-ms N   cooldown of an open circuit (interface: one hour)
  --keep-alive-ms N         time between two keep-alive comments of an event stream (interface: 30000)

Selection and reports:
  --major 1|2               check one major alone (default: all that the host advertises)
  --only ID|AREA            run these checks alone; repeat the option, or separate names by commas
  --profile NAME            require a profile, and exit with 3 when it was not looked at as a whole (default: core, or
                            none with --only); repeat the option, or separate names by commas
  --profile-only            run the checks of the profiles alone
  --list                    print the id, the majors and the name of every check; with --markdown, as tables
  --json FILE               write the report as JSON; "-" prints it in place of the table
  --junit FILE              write the report as JUnit XML
  --html FILE               write the report as one page of HTML
  --badge FILE              write a badge of the result as SVG
  --bundle FILE             write the report, signed with --signing-key FILE (Ed25519, PEM), whose id is --key-id ID
  --failures-only           leave out checks that passed or were skipped
  --github                  also print failures as annotations of GitHub Actions, on stderr
  --baseline FILE           a report of --json: its failures are known, and do not count
  --fail-on-skipped         exit with 1 when a check was skipped that is for hosts of this kind
  --expected-skips FILE     a JSON list of ids, such as ["runs.fails", "audit.range@2"], that --fail-on-skipped permits
  --timeout MS              longest time for one request (default 10000)
  --patience MS             longest wait for an effect of a request, such as a delivery (default 10000)
  --concurrency N           number of checks that run at the same time (default 8)
  --fixtures                print a description of the fixture workflows as JSON
  --verify FILE             verify a signed report: exit with 0 when the key --public-key ID=KEY signed it (32 bytes in
                            base64url) and the host conforms, with 1 otherwise
  --version                 print the version
  --config FILE             read options from a JSON object: { "url": "…", "key": "…", "major": 2, "only": ["runs"] }

Profiles:
${profiles}
  none                      no requirement

Exit code: 0 no check failed; 1 a check failed; 2 wrong options, an interruption, or no host responds at the URL;
3 no check failed, and the run looked at less than its profiles require.
`;
