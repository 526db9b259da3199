import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { configJsonSchema, parseConfig } from './config.ts';

describe('config.schema.json', () => {
  const published = JSON.parse(readFileSync(new URL('../config.schema.json', import.meta.url), 'utf8'));

  test('is the JSON Schema of the configuration', () => {
    expect(published).toEqual(JSON.parse(JSON.stringify(configJsonSchema())));
  });

  test('describes every key', () => {
    expect(undescribed(published, '')).toEqual([]);
  });
});

/** Lists the paths of properties that have no description. */
function undescribed(schema: JsonSchema, path: string): string[] {
  const ofKeys = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
    ...(property.description === undefined ? [`${path}.${name}`] : []),
    ...undescribed(property, `${path}.${name}`),
  ]);
  const ofParts = [schema.items, ...(schema.anyOf ?? [])].flatMap((part) =>
    part === undefined ? [] : undescribed(part, `${path}[]`),
  );
  return [...ofKeys, ...ofParts];
}

interface JsonSchema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

describe('a configuration', () => {
  test('may be empty, because every key has a default', () => {
    const parsed = parseConfig('{}');
    expect(parsed).toMatchObject({
      ok: true,
      config: { listen: { host: '127.0.0.1', port: 8787 }, store: 'sqlite:./svc.db' },
    });
  });

  test('gets one problem for each wrong key, with its path, the fault and the remedy', () => {
    const key = {
      id: 'k',
      tenant: 'nowhere',
      workspaces: ['*', 'w'],
      principal: 'a@b',
      scopes: ['not a scope'],
      mode: 'other',
    };
    expect(problemsOf({ baseUrl: 'https://x/path', apiKeys: [key], surplus: 1 })).toEqual([
      'baseUrl: must be an origin. Give scheme, host and port without a path, such as https://svc.example.com.',
      'apiKeys[0].principal: must be an opaque id. Use an id without @, white space or slash, such as p_7f3a.',
      'apiKeys[0].scopes[0]: must be a scope. Use one such as runs:read or runs:*.',
      'apiKeys[0].mode: is not an accepted value. Set it to "live" or "test".',
      'surplus: is not a key of this configuration. Remove it, or correct it: config.schema.json lists the keys.',
    ]);
  });

  const key = { id: 'k', hash: '0'.repeat(64), tenant: 'acme', workspaces: ['acme-prod'], principal: 'p', scopes: [] };
  const tenants = [{ id: 'acme', workspaces: ['acme-prod'] }];
  const shop = { broker: 'postgres', url: 'postgres://db/shop', grants: [{ tenant: 'acme', queues: ['orders'] }] };
  const queueConfig = (fields: object) => ({ tenants, triggers: { queues: { shop: { ...shop, ...fields } } } });
  const restate = { ingressUrl: 'http://127.0.0.1:8080', adminUrl: 'http://127.0.0.1:9070', port: 9080 };
  const pseudonymous = { issuers: [{ issuer: 'https://idp.example.com', audience: 'svc', pseudonymous: true }] };
  const ORIGIN_FORM = 'must be an origin. Give scheme, host and port without a path, such as https://svc.example.com.';
  const operators = { roles: [{ role: 'operator', scopes: ['runs:*'] }] };
  const assignment = { principal: 'p', workspace: 'acme-prod', role: 'operator' };
  const key32 = Buffer.alloc(32).toString('base64');
  const idp = 'https://idp.example.com';
  const introspection = { issuer: idp, endpoint: `${idp}/introspect`, audience: 'svc', clientId: 'svc' };

  test('status lists need the keys that sign them, and keys of lists need lists', () => {
    const statusLists = { uris: [`${idp}/lists/`] };
    const workloads = { schemes: ['spiffe'], audience: 'svc', trustDomains: [{ name: 'a.example', statusLists }] };
    expect(problemsOf({ tenants, workloadIdentity: workloads })).toEqual([
      'workloadIdentity.trustDomains[0].jwksFile: is missing, and its keys verify the statusLists. Give it, or remove statusLists.',
    ]);
    const asked = { ...introspection, clientSecretFile: 'a' };
    expect(problemsOf({ tenants, introspection: { ...asked, jwksFile: 'keys' } })).toEqual([
      'introspection.statusLists: is missing, and jwksUri and jwksFile have the keys of status lists alone. Give it, or remove them.',
    ]);
    expect(problemsOf({ tenants, introspection: { ...asked, statusLists, jwksFile: 'keys' } })).toEqual([]);
  });

  describe('a binding without an issuer', () => {
    const binding = { principal: 'p', tenant: 'acme', workspaces: ['acme-prod'], scopes: [] };
    const cloud = (name: string) => ({ scheme: 'cloud-subject', issuer: `https://${name}.example`, jwksFile: 'keys' });
    const workloads = (changes: object, bindings: object[]) => ({
      tenants,
      workloadIdentity: { schemes: ['cloud-subject', 'spiffe'], audience: 'svc', ...changes, bindings },
    });
    const one = { ...binding, subject: 'deploy' };
    const ambiguous = [
      'workloadIdentity.bindings[0].issuer: is missing, and more than one issuer can name this subject. Give the issuer of the binding.',
    ];

    test.each([
      ['two issuers of the scheme', workloads({ issuers: [cloud('a'), cloud('b')] }, [one]), ambiguous],
      ['one issuer of the scheme', workloads({ issuers: [cloud('a')] }, [one]), []],
      [
        'its issuer named',
        workloads({ issuers: [cloud('a'), cloud('b')] }, [{ ...one, issuer: 'https://b.example' }]),
        [],
      ],
      [
        'a subject of one trust domain',
        workloads({ trustDomains: [{ name: 'a.example' }, { name: 'b.example' }], issuers: [cloud('a')] }, [
          { ...binding, subject: 'spiffe://b.example/agent' },
        ]),
        [],
      ],
      [
        'two issuers of delegations for a person',
        workloads(
          {
            trustDomains: [{ name: 'a.example' }],
            delegation: {
              maxChainDepth: 1,
              issuers: ['x', 'y'].map((name) => ({ issuer: `https://${name}.example`, jwksFile: 'keys' })),
            },
          },
          [{ ...binding, subject: 'user-1' }],
        ),
        ambiguous,
      ],
    ])('%s', (_name, config, problems) => {
      expect(problemsOf(config)).toEqual(problems);
    });
  });

  test('gets a problem for a grant of workloads that it cannot make', () => {
    const issuers = [{ scheme: 'cloud-subject', issuer: 'https://a.example', jwksFile: 'keys' }];
    const trustDomains = [{ name: 'acme.example', jwksFile: 'keys' }];
    const grants = [
      { tenant: 'acme', issuer: 'https://a.example', subjectPrefix: 'repo:acme/' },
      { tenant: 'nowhere', issuer: 'https://b.example' },
      { tenant: 'acme', issuer: 'acme.example' },
      { tenant: 'acme', issuer: 'spiffe://acme.example', subjectPrefix: 'spiffe://other.example/' },
    ];
    const workloadIdentity = { schemes: ['cloud-subject', 'spiffe'], audience: 'svc', issuers, trustDomains, grants };
    const remedy = 'Add it there, or correct it: a trust domain begins with spiffe://.';
    expect(problemsOf({ tenants, workloadIdentity })).toEqual([
      'workloadIdentity.grants[1].tenant: must be the id of one of tenants. Add the tenant there, or correct its id.',
      `workloadIdentity.grants[1].issuer: must be an issuer of workloadIdentity. ${remedy}`,
      `workloadIdentity.grants[2].issuer: must be an issuer of workloadIdentity. ${remedy}`,
      'workloadIdentity.grants[3].subjectPrefix: must begin with the trust domain in issuer and a slash. Add them.',
    ]);
    const within = [{ tenant: 'acme', issuer: 'https://a.example', subjectPrefix: 'repo:acme' }];
    expect(problemsOf({ tenants, workloadIdentity: { ...workloadIdentity, grants: within } })).toEqual([
      'workloadIdentity.grants[0].subjectPrefix: must end with a character that separates names. Write it up to a / or :, such as repo:acme/.',
    ]);
  });

  test.each<[string, object, string]>([
    [
      'a sign-in that nothing needs',
      { stepUp: [{ acrValues: ['phr'] }] },
      'stepUp[0].operations: is empty, and so is scopes. Name what needs the sign-in.',
    ],
    [
      'a need of no sign-in',
      { stepUp: [{ scopes: ['keys:*'] }] },
      'stepUp[0].acrValues: is missing, and so are methods and maxAgeSeconds. Say which sign-in is needed.',
    ],
    [
      'a sign-in with a space in its name',
      { stepUp: [{ scopes: ['keys:*'], acrValues: ['p hr'] }] },
      'stepUp[0].acrValues[0]: must be a name. Write it without spaces, quotation marks and backslashes.',
    ],
    [
      'a base URL that is not a URL',
      { baseUrl: 'svc' },
      'baseUrl: must be an origin. Give scheme, host and port without a path, such as https://svc.example.com.',
    ],
    [
      'a proxy that is not a block of addresses',
      { trustedProxies: { cidrs: ['proxy.example.com'] } },
      'trustedProxies.cidrs[0]: must be a block of addresses. Write its first address and its length, such as 10.0.0.0/8.',
    ],
    ['a missing key', { rateLimit: { limit: 1 } }, 'rateLimit.windowSeconds: is missing. Set it to a number.'],
    [
      'a value of another type',
      { dpop: { required: 'yes' } },
      'dpop.required: has the wrong type. Set it to true or false.',
    ],
    [
      'a fraction',
      { webhooks: { attemptTimeoutMs: 0.5 } },
      'webhooks.attemptTimeoutMs: has the wrong type. Set it to a whole number.',
    ],
    ['an empty list', { oidc: { issuers: [] } }, 'oidc.issuers: is too short. Give at least 1 entry.'],
    [
      'more attempts of one tenant than of all',
      { webhooks: { concurrency: { total: 8, perTenant: 9 } } },
      'webhooks.concurrency.perTenant: is greater than total. Set it to at most total, or leave it out.',
    ],
    [
      'a retention of no time',
      { webhooks: { deadLetter: { retentionDays: 0 } } },
      'webhooks.deadLetter.retentionDays: is too small. Set it to more than 0.',
    ],
    [
      'an overlap of less than a minute',
      { webhooks: { secretRotation: { overlapSeconds: 59 } } },
      'webhooks.secretRotation.overlapSeconds: is too small. Set it to at least 60.',
    ],
    [
      'an overlap of more than a week',
      { webhooks: { secretRotation: { overlapSeconds: 604_801 } } },
      'webhooks.secretRotation.overlapSeconds: is too large. Set it to at most 604800.',
    ],
    [
      'a former key of another length',
      { formerSecretKeys: ['AAAA'] },
      'formerSecretKeys[0]: must be 32 bytes in base64. Generate one with `openssl rand -base64 32`.',
    ],
    [
      'signature algorithms without v1',
      { webhooks: { signatureAlgorithms: ['standard-webhooks-1'] } },
      'webhooks.signatureAlgorithms: must contain v1. Add "v1".',
    ],
    [
      'a repeated signature algorithm',
      { webhooks: { signatureAlgorithms: ['v1', 'v1'] } },
      'webhooks.signatureAlgorithms: must not repeat an entry. Remove the second one.',
    ],
    [
      'a malformed public key',
      { audit: { formerPublicKeys: ['AAAA'] } },
      'audit.formerPublicKeys[0]: must be a checkpointPublicKey. Copy it from the audit section of the discovery document.',
    ],
    [
      'a file of checkpoints beside the database',
      { store: 'sqlite:data/svc.db', audit: { checkpointFile: 'data/copies/checkpoints.jsonl' } },
      'audit.checkpointFile: must be outside of the folder of the database. Name a file on another volume.',
    ],
    [
      'a file of checkpoints of a store in memory',
      { store: 'memory:', audit: { checkpointFile: '/witness/checkpoints.jsonl' } },
      'audit.checkpointFile: needs a store that outlives the process. Set store to a database, or remove this key.',
    ],
    [
      'a retention of runs of no day',
      { retention: { runDays: 0 } },
      'retention.runDays: is too small. Set it to at least 1.',
    ],
    [
      'a retention of half a day',
      { retention: { runDays: 0.5 } },
      'retention.runDays: has the wrong type. Set it to a whole number.',
    ],
    [
      'a retention of more than a hundred years',
      { retention: { auditDays: 36_501 } },
      'retention.auditDays: is too large. Set it to at most 36500.',
    ],
    [
      'effects that are forgotten before the interface allows it',
      { retention: { effectDays: 13 } },
      'retention.effectDays: is too small. Set it to at least 14.',
    ],
    [
      'runs that are removed before the replies that name them',
      { retention: { runDays: 6, idempotencyDays: 7 } },
      'retention.runDays: is less than retention.idempotencyDays: stored replies would name removed runs. Raise it.',
    ],
    [
      'a retention of audit entries without a file of checkpoints',
      { retention: { auditDays: 400 } },
      'retention.auditDays: needs audit.checkpointFile: entries are removed only up to a checkpoint of that file. Set it, or remove this key.',
    ],
    [
      'an engine on DBOS without a PostgreSQL',
      { engine: 'dbos' },
      'engine: dbos needs a PostgreSQL. Set store to postgres://USER@HOST/DATABASE, or engine to steps.',
    ],
    [
      'an engine on Restate without its cluster',
      { engine: 'restate' },
      'engine: restate needs a cluster. Set restate to its URLs and a port, or engine to steps.',
    ],
    [
      'a cluster of Restate for another engine',
      { restate },
      'restate: needs engine: restate. Set engine, or remove this key.',
    ],
    [
      'the port of the host for Restate',
      { engine: 'restate', restate: { ...restate, port: 8787 } },
      'restate.port: is that of listen. Set another one.',
    ],
    [
      'an ingress of Restate that is no URL',
      { engine: 'restate', restate: { ...restate, ingressUrl: '127.0.0.1:8080' } },
      'restate.ingressUrl: must be a URL without a query. Write http://HOST:PORT.',
    ],
    [
      'an admin API of Restate with a password',
      { engine: 'restate', restate: { ...restate, adminUrl: 'http://user:word@127.0.0.1:9070' } },
      'restate.adminUrl: must be a URL without a query. Write http://HOST:PORT.',
    ],
    [
      'a key of Restate that is none',
      { engine: 'restate', restate: { ...restate, identityKeys: ['key'] } },
      'restate.identityKeys[0]: must be a public key. Copy publickeyv1_… from the log of Restate.',
    ],
    [
      'PostgreSQL without a secret key',
      { store: 'postgres://localhost/svc' },
      'secretKey: is required with PostgreSQL. Set it to the same 32 bytes in base64 on every host: `openssl rand -base64 32`.',
    ],
    [
      'a former secret key, a pseudonymous issuer and no pseudonym key',
      { secretKey: key32, formerSecretKeys: [Buffer.alloc(32, 1).toString('base64')], oidc: pseudonymous },
      'pseudonymKey: is required when formerSecretKeys is set and an issuer is pseudonymous. Set it to your first secretKey, or every user gets a new pseudonym.',
    ],
    ...[
      ['no secret and no private key', {}],
      ['a secret and a private key', { clientSecretFile: 'a', privateKeyFile: 'b' }],
    ].map(([title, files]): [string, object, string] => [
      `introspection with ${title}`,
      { introspection: { ...introspection, ...Object(files) } },
      'introspection.clientSecretFile: exactly one of clientSecretFile and privateKeyFile must be set. Give the one that the issuer expects.',
    ]),
    [
      'introspection without TLS',
      { introspection: { ...introspection, endpoint: 'http://idp.example.com/introspect', clientSecretFile: 'a' } },
      'introspection.endpoint: must be https, or http on this machine. Give a URL without query, fragment and user name.',
    ],
    [
      'an API key of an unknown tenant',
      { tenants, apiKeys: [{ ...key, tenant: 'other' }] },
      'apiKeys[0].tenant: must be the id of one of tenants. Add the tenant there, or correct its id.',
    ],
    [
      'a console at a path of the interface',
      { console: { path: '/runs/console' } },
      'console.path: must not begin with a path of the interface. Write a path such as /console.',
    ],
    [
      'a console at a path with a slash at its end',
      { console: { path: '/ops/' } },
      'console.path: must be segments of letters, digits and hyphens. Write a path such as /console.',
    ],
    [
      'a public chat of an unknown tenant',
      { tenants, mounts: { publicChat: { tenant: 'other', workspace: 'acme-prod' } } },
      'mounts.publicChat.tenant: must be the id of one of tenants. Add the tenant there, or correct its id.',
    ],
    [
      'a public chat of an unknown workspace',
      { tenants, mounts: { publicChat: { tenant: 'acme', workspace: 'other' } } },
      'mounts.publicChat.workspace: must be a workspace of that tenant. Add it to tenants, or correct its name.',
    ],
    [
      'a queue that is granted to an unknown tenant',
      queueConfig({ grants: [{ tenant: 'other', queues: ['orders'] }] }),
      'triggers.queues.shop.grants[0].tenant: must be the id of one of tenants. Add the tenant there, or correct its id.',
    ],
    [
      'a queue that is granted twice',
      queueConfig({ grants: [{ tenant: 'acme', queues: ['orders', 'orders'] }] }),
      'triggers.queues.shop.grants[0].queues[1]: is granted twice. Grant a queue to one tenant and mode.',
    ],
    [
      'a table of queues whose name is none',
      queueConfig({ table: 'a;b' }),
      'triggers.queues.shop.table: must be the name of a table. Use lower-case letters, digits and underscores.',
    ],
    [
      'a name server that is a name',
      { tenants, triggers: { email: { nameServers: ['dns.example.com'] } } },
      'triggers.email.nameServers[0]: must be an IP address with or without a port, such as 192.0.2.53 or [2001:db8::53]:5353.',
    ],
    [
      'a name server that is an address in brackets of another family',
      { tenants, triggers: { email: { nameServers: ['[192.0.2.53]:53'] } } },
      'triggers.email.nameServers[0]: must be an IP address with or without a port, such as 192.0.2.53 or [2001:db8::53]:5353.',
    ],
    [
      'a name server that is at a port that is none',
      { tenants, triggers: { email: { nameServers: ['192.0.2.53:70000'] } } },
      'triggers.email.nameServers[0]: must be an IP address with or without a port, such as 192.0.2.53 or [2001:db8::53]:5353.',
    ],
    [
      'an API key of an unknown workspace',
      { tenants, apiKeys: [{ ...key, workspaces: ['other'] }] },
      'apiKeys[0].workspaces: must be workspaces of the tenant of the key. Add them there, or use ["*"] for all.',
    ],
    [
      'an API key of all workspaces and of one by its name',
      { tenants, apiKeys: [{ ...key, workspaces: ['*', 'acme-prod'] }] },
      'apiKeys[0].workspaces: must be either ["*"] or names. Remove "*", or the names.',
    ],
    ['a base URL without a scheme', { baseUrl: 'svc.example.com' }, `baseUrl: ${ORIGIN_FORM}`],
    ['an empty base URL', { baseUrl: '' }, `baseUrl: ${ORIGIN_FORM}`],
    [
      'a tenant that is listed twice',
      { tenants: [...tenants, { id: 'acme', workspaces: ['acme-dev'] }] },
      'tenants[1].id: is that of entry 0, too. Remove one of them, or change one.',
    ],
    [
      'an API key that is listed twice',
      { tenants, apiKeys: [key, { ...key, id: 'other' }] },
      'apiKeys[1].hash: is that of entry 0, too. Remove one of them, or change one.',
    ],
    [
      'a misspelt scope',
      { tenants, apiKeys: [{ ...key, scopes: ['runs:raed'] }] },
      'apiKeys[0].scopes[0]: grants nothing on this host. Correct it, perhaps to runs:read.',
    ],
    [
      'a misspelt family of scopes',
      { tenants, apiKeys: [{ ...key, scopes: ['webhook:*'] }] },
      'apiKeys[0].scopes[0]: grants nothing on this host. Correct it, perhaps to webhooks:manage.',
    ],
    [
      'a live key in test mode',
      { tenants, apiKeys: [{ ...key, hash: undefined, key: `svc_live_${'k'.repeat(40)}`, mode: 'test' }] },
      'apiKeys[0].mode: contradicts the prefix of key. Set it to the mode of the key, or give another key.',
    ],
    [
      'an assignment to an unknown workspace',
      { tenants, authorization: { ...operators, assignments: [{ ...assignment, workspace: 'other' }] } },
      'authorization.assignments[0].workspace: must be a workspace of that tenant. Add it to tenants, or correct its name.',
    ],
    [
      'an assignment in an unknown tenant',
      { tenants, authorization: { ...operators, assignments: [{ ...assignment, tenant: 'other' }] } },
      'authorization.assignments[0].tenant: must be the id of one of tenants. Add the tenant there, or correct its id.',
    ],
    [
      'more places for a subscription than in total',
      { webhooks: { concurrency: { total: 4, perSubscription: 5 } } },
      'webhooks.concurrency.perSubscription: is more than webhooks.concurrency.total. Set it to that number at most.',
    ],
    [
      'a delay above the longest delay',
      { webhooks: { retryPolicy: { delayMs: 60_000 } } },
      'webhooks.retryPolicy.delayMs: is more than webhooks.retryPolicy.maxDelayMs, 30000. Lower it, or raise maxDelayMs.',
    ],
    [
      'an absurd time of an attempt',
      { webhooks: { attemptTimeoutMs: 1e12 } },
      'webhooks.attemptTimeoutMs: is too large. Set it to at most 300000.',
    ],
    [
      'an absurd window of a limit',
      { rateLimit: { limit: 1, windowSeconds: 1e9 } },
      'rateLimit.windowSeconds: is too large. Set it to at most 86400.',
    ],
    [
      'the current secret key among the former ones',
      { secretKey: key32, formerSecretKeys: [key32] },
      'formerSecretKeys[0]: is the current secretKey. Remove it, or set secretKey to the new key.',
    ],
    [
      'a file that no request can bring',
      { workspaceFiles: { maxFileBytes: 2_000_000 } },
      'workspaceFiles.maxFileBytes: is more than limits.maxRequestBodyBytes, 1048576: no request can bring such a file. Lower it, or raise that limit.',
    ],
    [
      'a client version above every served one',
      { protocol: { minClientVersion: '2.1' } },
      'protocol.minClientVersion: is above every one of protocol.versions: each client would be rejected. Lower it.',
    ],
    [
      'mirrored reads of a host that serves one major',
      { protocol: { versions: ['2.0'], mirror: {} } },
      'protocol.mirror: needs both majors in protocol.versions. Add one, or remove mirror.',
    ],
    [
      'a preferred version that is not served',
      { protocol: { preferred: '1.0' } },
      'protocol.preferred: must be one of protocol.versions. Add it there, or choose one of them.',
    ],
    [
      'a preferred 2.x beside a 1.x',
      { protocol: { preferred: '2.0' } },
      'protocol.preferred: must be a 1.x version while one is served. Choose one of them.',
    ],
    [
      'a block of addresses that is allowed and denied',
      { egress: { allowCidrs: ['10.0.0.0/8'], denyCidrs: ['10.0.0.0/8'] } },
      'egress.allowCidrs[0]: is in egress.denyCidrs, too. Remove one of them.',
    ],
  ])('with %s is rejected', (_configuration, config, problem) => {
    expect(problemsOf(config)).toEqual([problem]);
  });

  test('names no secret in its problems', () => {
    const problems = problemsOf({
      secretKey: 'not-base64-secret!',
      formerSecretKeys: ['short-secret'],
      apiKeys: [{ id: 'k', key: 'short-secret' }],
    });
    expect(problems.join('\n')).not.toMatch(/not-base64-secret|short-secret/);
  });

  test('must be JSON', () => {
    expect(parseConfig('{\n  "store": "memory:",\n}')).toEqual({
      ok: false,
      problems: ['the file: is not JSON at line 3, column 1: a comma stands before }. Remove the comma.'],
    });
  });

  test('may begin with a byte order mark', () => {
    expect(parseConfig('\uFEFF{}').ok).toBe(true);
  });

  test.each<[string, object]>([
    ['perSubscription above a total', { webhooks: { concurrency: { total: 2 } } }],
    ['delayMs above a maxDelayMs', { webhooks: { retryPolicy: { maxDelayMs: 10 } } }],
    ['places of a run above a total', { streams: { places: { total: 10 } } }],
  ])('may lower one key below the default of another: %s', (_keys, config) => {
    expect(problemsOf(config)).toEqual([]);
  });

  test.each(['runs:read', 'runs:*', '*', '*:read', 'packs:publish', 'deploy:start', 'agents:run', 'billing:*'])(
    'may grant %s',
    (scope) => {
      expect(problemsOf({ tenants, apiKeys: [{ ...key, scopes: [scope] }] })).toEqual([]);
    },
  );
});

function problemsOf(config: object): readonly string[] {
  const parsed = parseConfig(JSON.stringify(config));
  return parsed.ok ? [] : parsed.problems;
}
