import { KEY_MEANINGS, KEY_NAMES, KEY_VARIABLES, keyOption } from '../keys.ts';

const WIDTH = 26;

const keys = KEY_NAMES.map((name) => {
  const option = `--${keyOption(name)} KEY`.padEnd(WIDTH);
  return `  ${option}${KEY_VARIABLES[name]}: ${KEY_MEANINGS[name]}`;
}).join('\n');

export const HELP = `Usage: svc-conformance URL [OPTIONS]
       svc-conformance --list [--markdown]

Holds the host at URL, its origin, to the protocol: over HTTP alone, so in whatever language it is written. What a check needs and the host
does not advertise, or you do not give, is skipped with the reason; nothing that is skipped counts as passed. The suite makes runs and
subscriptions in the workspace of its keys, and removes or ends what it made. Use a workspace and keys made for it.

Keys, each optional. Others on the machine can read what stands in arguments, so prefer the environment or a configuration file:
${keys}

  --workspace NAME          the workspace of the main key, where the host does not tell it
  --artifact-workflow ID    a workflow that makes an artifact of its input "content"

Deliveries come to a receiver of the suite's own. The host must be able to reach it, and be allowed to:
  --receiver-host HOST      where it listens (default 127.0.0.1)
  --receiver-port PORT      (default 0: any free port)
  --receiver-url URL        how the host reaches it, when that is another URL, such as https through a proxy
  --no-receiver             look at no deliveries

Settings of the host that are not those of the interface. What takes too long by default is looked at only when you say that it is shorter:
  --attempt-timeout-ms N    of an attempt to deliver (default 5000)
  --circuit-cooldown-ms N   how long a circuit stays open (the interface's hour is too long to wait for)
  --keep-alive-ms N         between two signs of life of an idle event stream (the interface's 30 s are too long to wait for)

What is looked at, and how it is told:
  --major 1|2               one major alone
  --only ID|AREA            some checks alone; may be repeated, or a list with commas
  --json FILE               the report as JSON; - for standard output, in place of the table
  --junit FILE              the report as JUnit XML
  --fail-on-skipped         a check that is skipped is a failure
  --timeout MS              for one request (default 10000)
  --patience MS             for what has to happen, such as a delivery (default 10000)
  --concurrency N           checks at the same time (default 8)
  --config FILE             a JSON object of the options above, without their dashes: { "url": "…", "key": "…", "major": 2 }

Exit code: 0 nothing failed, 1 something did, 2 wrong use, or nobody answers.
`;
