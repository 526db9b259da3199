import { KEY_MEANINGS, KEY_NAMES, KEY_VARIABLES, keyOption } from '../keys.ts';

const WIDTH = 26;

const keys = KEY_NAMES.map((name) => {
  const option = `--${keyOption(name)} KEY`.padEnd(WIDTH);
  return `  ${option}${KEY_VARIABLES[name]}: ${KEY_MEANINGS[name]}`;
}).join('\n');

export const HELP = `Usage: svc-conformance URL [OPTIONS]
       svc-conformance --list [--markdown]
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
  --list                    print the id, the majors and the name of every check; with --markdown, as tables
  --json FILE               write the report as JSON; "-" prints it in place of the table
  --junit FILE              write the report as JUnit XML
  --fail-on-skipped         exit with 1 when a check was skipped
  --timeout MS              longest time for one request (default 10000)
  --patience MS             longest wait for an effect of a request, such as a delivery (default 10000)
  --concurrency N           number of checks that run at the same time (default 8)
  --version                 print the version
  --config FILE             read options from a JSON object: { "url": "…", "key": "…", "major": 2, "only": ["runs"] }

Exit code: 0 no check failed; 1 a check failed; 2 wrong options, an interruption, or no host responds at the URL.
`;
