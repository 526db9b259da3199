import { z } from 'zod';
import { audit } from './config-audit.ts';
import { authenticationConfig } from './config-authentication.ts';
import { callers } from './config-callers.ts';
import { customerPortal, operatorConsole } from './config-console.ts';
import { checkContradictions } from './config-contradictions.ts';
import { cors } from './config-cors.ts';
import { debugBundles } from './config-debug-bundles.ts';
import { discovery } from './config-discovery.ts';
import { egress } from './config-egress.ts';
import { engine } from './config-engine.ts';
import { limits } from './config-limits.ts';
import { listen } from './config-listen.ts';
import { mounts } from './config-mounts.ts';
import { expectation, pathOf, problemsOf } from './config-problems.ts';
import { protocol } from './config-protocol.ts';
import { rateLimit } from './config-rate-limit.ts';
import { checkReferences } from './config-references.ts';
import { retention } from './config-retention.ts';
import { shutdown } from './config-shutdown.ts';
import { store } from './config-store.ts';
import { streams } from './config-streams.ts';
import { telemetry } from './config-telemetry.ts';
import { triggers } from './config-triggers.ts';
import { webhooks } from './config-webhooks.ts';
import { workspaceFiles } from './config-workspace-files.ts';
import { jsonFault } from './json-fault.ts';

export type ParsedConfig =
  | { readonly ok: true; readonly config: Config }
  /** One line a problem: `<path>: <fault>. <remedy>.` No line contains a value of the file. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads a configuration from the text of its file. */
export function parseConfig(file: string): ParsedConfig {
  // Editors of some systems write a byte order mark.
  const text = file.replace(/^\uFEFF/, '');
  const fault = jsonFault(text);
  if (fault !== undefined) {
    const { line, column, message } = fault;
    return { ok: false, problems: [`the file: is not JSON at line ${line}, column ${column}: ${message}`] };
  }
  const json: unknown = JSON.parse(text);
  const result = schema.safeParse(json, { error: expectation });
  if (!result.success) return { ok: false, problems: result.error.issues.flatMap(problemsOf) };
  const problems: string[] = [];
  checkContradictions(result.data, json, (path, message) => problems.push(`${pathOf(path)}: ${message}`));
  return problems.length === 0 ? { ok: true, config: result.data } : { ok: false, problems };
}

export type Config = z.infer<typeof schema>;

/** Returns the JSON Schema of the configuration file, which is published as `config.schema.json`. */
export function configJsonSchema(): object {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}

const ORIGIN_FORM = 'must be an origin. Give scheme, host and port without a path, such as https://svc.example.com.';

const origin = z
  .url({ protocol: /^https?$/, error: ORIGIN_FORM, abort: true })
  .refine((text) => new URL(text).origin === text.replace(/\/$/, ''), { error: ORIGIN_FORM });

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
    ...store,
    ...engine,
    protocol: protocol.prefault({}).describe('Versions of the protocol.'),
    ...discovery,
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
    triggers: triggers
      .optional()
      .describe('Serves trigger subscriptions, whose senders post without a credential. Default: not served.'),
    mounts: mounts.prefault({}).describe('Further protocols beside the interface.'),
    console: operatorConsole
      .default(false)
      .describe(
        'Serves a web page for operators. true: at /console. The page has no data: its user signs in with a key or a token.',
      ),
    portal: customerPortal
      .default(false)
      .describe('Serves sessions in which customers repair webhooks, and their web page. true: at /portal.'),
    streams: streams.prefault({}).describe('Event streams, and polls that wait for events.'),
    cors: cors.optional().describe('Web pages that may call the host from a browser. Default: none.'),
    egress: egress.prefault({}).describe('Addresses that the host may call for its callers.'),
    telemetry: telemetry.prefault({}).describe('Traces. The OpenTelemetry SDK is configured by its own variables.'),
    shutdown: shutdown.prefault({}).describe('End of the process.'),
    limits: limits.prefault({}).describe('Limits of requests and runs.'),
    ...authenticationConfig,
    debugBundles: debugBundles.prefault({}).describe('Keys of debug bundles.'),
    audit: audit.prefault({}).describe('Audit log, which is always kept.'),
    workspaceFiles: workspaceFiles.prefault({}).describe('Files that the agents of a workspace share.'),
    retention: retention.prefault({}).describe('Times after which records are removed.'),
  })
  .superRefine(checkReferences);
