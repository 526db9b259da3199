import { z } from 'zod';
import { authenticationConfig } from './config-authentication.ts';
import { callers } from './config-callers.ts';
import { expectation, problemsOf } from './config-problems.ts';
import { checkReferences } from './config-references.ts';
import { cidr, durationMs, durationSeconds, key32, mode, publicKey, utcTime } from './config-values.ts';
import { webhooks } from './config-webhooks.ts';

export type ParsedConfig =
  | { readonly ok: true; readonly config: Config }
  /** One line a problem: `<path>: <fault>. <remedy>.` No line contains a value of the file. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads a configuration from the text of its file. */
export function parseConfig(text: string): ParsedConfig {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return {
      ok: false,
      problems: ['the file: is not JSON. Remove comments and trailing commas, and quote every key.'],
    };
  }
  const result = schema.safeParse(json, { error: expectation });
  if (result.success) return { ok: true, config: result.data };
  return { ok: false, problems: result.error.issues.flatMap(problemsOf) };
}

export type Config = z.infer<typeof schema>;

/** Returns the JSON Schema of the configuration file, which is published as `config.schema.json`. */
export function configJsonSchema(): object {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}

const PAGE_ORIGIN = 'must be an exact origin or *. Give scheme, host and port without a path or a slash at the end.';
const ORIGIN_FORM = 'must be an origin. Give scheme, host and port without a path, such as https://svc.example.com.';

const origin = z
  .url({ protocol: /^https?$/, error: ORIGIN_FORM, abort: true })
  .refine((text) => new URL(text).origin === text.replace(/\/$/, ''), { error: ORIGIN_FORM });

const version = z
  .string()
  .regex(/^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$/, 'must be <major>.<minor>. Write a version such as 1.1.');

const listen = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('Address that the host listens on.'),
  port: z.int().min(0).max(65_535).default(8787).describe('Port. 0: any free port, which the ready line names.'),
});

const retirement = z.strictObject({
  deprecatedAt: utcTime.describe('Time of the deprecation, in UTC.'),
  sunsetAt: utcTime.optional().describe('Time at which major 1 ends, in UTC. Default: not said.'),
  link: z.url('must be a URL. Give that of a page.').optional().describe('Page about the migration. Default: none.'),
});

const protocol = z.strictObject({
  versions: z.array(version).min(1).default(['1.1', '2.0']).describe('Served versions of the protocol.'),
  preferred: version
    .optional()
    .describe('Version of a request that names none. It must be one of versions. Default: the first 1.x of versions.'),
  minClientVersion: version
    .optional()
    .describe('A client that states a lower version is rejected with 426. Default: every client is accepted.'),
  retirement: retirement.optional().describe('Dates that each response of major 1 announces. Default: none.'),
});

const requestsInWindow = {
  limit: z.int().min(1).describe('Most requests in a window.'),
  windowSeconds: durationSeconds.describe('Length of the window, in seconds.'),
};

const rateLimit = z.strictObject({
  ...requestsInWindow,
  refusals: z
    .strictObject(requestsInWindow)
    .optional()
    .describe('Limit of refused requests for each client address. Default: limit and windowSeconds of rateLimit.'),
});

const publicChat = z.strictObject({
  tenant: z.string().describe('Id of the tenant that the runs of visitors belong to. It must be one of tenants.'),
  workspace: z.string().describe('Workspace of the tenant that they belong to.'),
  mode: mode.default('live').describe('Mode of the runs.'),
  sessionSeconds: z.int().min(1).max(86_400).default(3600).describe('Life of the session of a visitor, in seconds.'),
  perClient: z
    .strictObject(requestsInWindow)
    .default({ limit: 60, windowSeconds: 60 })
    .describe('Limit of each client address.'),
});

const mounts = z.strictObject({
  a2a: z.boolean().default(true).describe('Serves A2A at /host/<org>/a2a.'),
  mcp: z.boolean().default(false).describe('Serves MCP at /host/<org>/mcp.'),
  chat: z.boolean().default(true).describe('Serves chat at /host/<org>/chat.'),
  publicChat: publicChat
    .optional()
    .describe('Serves chat to visitors without a credential, at /host/<org>/public-chat. Default: not served.'),
});

const streams = z.strictObject({
  places: z
    .strictObject({
      perRun: z.int().min(1).default(500).describe('Of one run.'),
      perCredential: z.int().min(1).default(500).describe('Of one credential.'),
      total: z.int().min(1).default(2000).describe('Of the host.'),
    })
    .prefault({})
    .describe('Most readers at a time. Further ones are answered 429.'),
  keepAliveMs: durationMs
    .max(30_000)
    .default(15_000)
    .describe('Longest silence of a stream before it sends a comment, in ms.'),
  judgeEveryMs: durationMs
    .default(30_000)
    .describe('Interval at which the credential of a reader is checked again, in ms.'),
  stallMs: durationMs
    .default(30_000)
    .describe('Time after which a stream is closed whose reader takes no data, in ms.'),
});

const cors = z
  .strictObject({
    origins: z
      .array(z.string().regex(/^(?:\*|[a-z][a-z0-9+.-]*:\/\/[^/?#\s@]+)$/, PAGE_ORIGIN))
      .min(1)
      .describe('Exact origins of the pages, such as https://console.example.com. ["*"]: every origin.'),
    credentials: z
      .boolean()
      .default(false)
      .describe('Lets pages send cookies and client certificates. Not needed for keys and tokens, refused with *.'),
    maxAgeSeconds: z
      .int()
      .min(0)
      .max(86_400)
      .default(600)
      .describe('Time for which a browser remembers a permission, in seconds.'),
  })
  .refine(({ origins, credentials }) => !(credentials && origins.includes('*')), {
    path: ['credentials'],
    error: 'is refused with the origin *. List the origins that may send credentials.',
  });

const egress = z.strictObject({
  allowLoopback: z
    .union([z.boolean(), z.array(z.int().min(1).max(65_535))], {
      error: 'must be true, false or a list of ports. Give the ports of the receivers on this machine.',
    })
    .default(false)
    .describe('Lets subscriptions point at this machine: at every port, or at the listed ports. For development.'),
  denyCidrs: z.array(cidr).default([]).describe('Further address blocks that are denied, such as 203.0.113.0/24.'),
  allowCidrs: z.array(cidr).default([]).describe('Private address blocks that are allowed, such as 10.1.0.0/16.'),
  caFile: z
    .string()
    .nullable()
    .default(null)
    .describe('File with certificate authorities in PEM. null: those of Node.'),
});

const audit = z.strictObject({
  checkpointIntervalEntries: z
    .int()
    .min(1)
    .max(100_000)
    .default(1000)
    .describe('Most entries between two checkpoints.'),
  checkpointIntervalSeconds: durationSeconds
    .default(300)
    .describe('Most seconds between an entry and the checkpoint that covers it.'),
  signingKeyFile: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'File with the Ed25519 private key that signs checkpoints, in PEM. null: a file beside the SQLite database; with PostgreSQL, a key derived from secretKey.',
    ),
  formerPublicKeys: z
    .array(publicKey)
    .max(64)
    .default([])
    .describe('Public keys of former signers, whose checkpoints are still stored.'),
});

const workspaceFiles = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether workspace files are served.'),
  maxFileBytes: z.int().min(1).default(65_536).describe('Largest file, in bytes of UTF-8.'),
  maxFiles: z.int().min(1).max(10_000).default(256).describe('Most files of a workspace.'),
  maxVersions: z
    .int()
    .min(1)
    .max(1000)
    .default(10)
    .describe('Most stored versions of a file, the current one included.'),
});

const contractProvenance = z
  .strictObject({
    suiteVersion: z
      .string()
      .regex(/^[0-9]+\.[0-9]+\.[0-9]+$/, 'must be three integers joined by dots')
      .describe('Release of the conformance suite.'),
  })
  .nullable()
  .prefault({ suiteVersion: '2.35.0' })
  .describe('contractProvenance of the discovery document of major 1. null omits it.');

const drainMs = z
  .int()
  .min(0)
  .max(600_000)
  .default(0)
  .describe('Time in which readyz answers 503 before the host stops accepting connections, in ms.');

const maxRequestBodyBytes = z
  .int()
  .min(1024)
  .default(1_048_576)
  .describe('Largest request body, in bytes. A larger one is answered 413.');

const maxNodeExecutions = z
  .int()
  .min(1)
  .default(1000)
  .describe('Most node executions of a run. A run that starts more fails.');

const maxRunDurationMs = z
  .int()
  .min(1000)
  .default(600_000)
  .describe('Longest duration of a run, without waits and pauses, in ms. A run that takes longer fails.');

const incomingTraces = z
  .enum(['continue', 'link'])
  .default('continue')
  .describe('Trace context of callers. continue: the trace goes on. link: the host begins its own and links to it.');

const schema = z
  .strictObject({
    listen: listen.prefault({}).describe('Address of the host.'),
    baseUrl: origin.optional().describe('Public origin, such as https://svc.example.com. Default: the listen URL.'),
    org: z
      .string()
      .regex(
        /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
        'must be lower-case letters, digits and hyphens. Use 1 to 63 of them, with no hyphen at either end.',
      )
      .default('example')
      .describe('Segment of /host/<org>/, the path of everything beside the protocol.'),
    store: z
      .string()
      .regex(
        /^(?:memory:|sqlite:(?!:memory:$|file:).+|postgres(?:ql)?:\/\/.+)$/,
        'must be the location of a store. Use memory:, sqlite:PATH or postgres://USER@HOST/DATABASE.',
      )
      .default('sqlite:./svc.db')
      .describe('memory:, sqlite:PATH or postgres://…. Several hosts may share a PostgreSQL.'),
    secretKey: key32
      .optional()
      .describe(
        '32 bytes in base64. Encrypts secrets at rest. Required with PostgreSQL. Default: a file beside the SQLite database.',
      ),
    formerSecretKeys: z
      .array(key32)
      .max(16)
      .default([])
      .describe('Former and coming values of secretKey. They open records and seal none.'),
    pseudonymKey: key32
      .optional()
      .describe('The first secretKey, from which pseudonyms are derived. Default: secretKey.'),
    protocol: protocol.prefault({}).describe('Versions of the protocol.'),
    contractProvenance,
    workspaceDiscovery: z
      .array(
        z.strictObject({
          tenant: z.string().describe('Id of a tenant.'),
          workspace: z.string().describe('Name of one of its workspaces.'),
          families: z.array(z.string()).describe('Families of the discovery document that the workspace sees.'),
        }),
      )
      .optional()
      .describe('Serves /host/<org>/discovery. A workspace that is not listed sees every family. Default: not served.'),
    apiKeyIssuer: z
      .string()
      .regex(/^[a-z][a-z0-9+.-]*:[^\s]{1,1000}$/, 'must be a URI or URN')
      .optional()
      .describe('Issuer in the Subjects of API keys. Default: urn:svc:api-key:<org>.'),
    ...callers,
    rateLimit: rateLimit
      .optional()
      .describe(
        'Limit of each credential, and of refused requests for each client address. Default: no limit of credentials, which the host logs at its start, and 6000 refused requests in 60 s.',
      ),
    webhooks,
    mounts: mounts.prefault({}).describe('Further protocols beside the interface.'),
    streams: streams.prefault({}).describe('Event streams, and polls that wait for events.'),
    cors: cors.optional().describe('Web pages that may call the host from a browser. Default: none.'),
    egress: egress.prefault({}).describe('Addresses that the host may call for its callers.'),
    telemetry: z
      .strictObject({ incomingTraces })
      .prefault({})
      .describe('Traces. The OpenTelemetry SDK is configured by its own variables.'),
    shutdown: z.strictObject({ drainMs }).prefault({}).describe('End of the process.'),
    limits: z
      .strictObject({ maxRequestBodyBytes, maxNodeExecutions, maxRunDurationMs })
      .prefault({})
      .describe('Limits of requests and runs.'),
    ...authenticationConfig,
    audit: audit.prefault({}).describe('Audit log, which is always kept.'),
    workspaceFiles: workspaceFiles.prefault({}).describe('Files that the agents of a workspace share.'),
  })
  .superRefine(checkReferences);
