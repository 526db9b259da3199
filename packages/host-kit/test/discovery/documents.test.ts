import { covers } from '@svc/tools/covers';
import { strictValidator } from '@svc/tools/json-schema';
import { served } from '@svc/versioning';
import { parseSemanticVersion } from '@svc/versioning/axes';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DiscoveryOptions, Facets } from '../../src/discovery/discovery-options.ts';
import { documentV1 } from '../../src/discovery/document-v1.ts';
import { documentV2 } from '../../src/discovery/document-v2.ts';
import { discoveryDocuments } from '../../src/discovery/documents.ts';
import type { DiscoveryInput } from '../../src/discovery/input.ts';
import { DISCOVERY_JSON_SCHEMAS } from '../../src/discovery/json-schemas.ts';
import { REFERENCE_INTEROP } from '../../src/discovery/reference-interop.ts';
import { DISCOVERY_V1 } from '../../src/discovery/schema-v1.ts';
import { DISCOVERY_V2 } from '../../src/discovery/schema-v2.ts';
import { scopeDiscovery } from '../../src/discovery/scope.ts';
import { representation } from '../../src/http/representation.ts';
import { DEFAULT_MAX_REQUEST_BODY_BYTES } from '../../src/options/body-limits.ts';
import { WORKSPACE_FILE_DEFAULTS } from '../../src/options/workspace-file-defaults.ts';
import { EVERYTHING, facts } from './facts.ts';

/** The durable-delivery facets of the host of these tests. */
const DURABLE = {
  retryPolicy: { maxAttempts: 3, backoff: 'fixed' },
  deadLetter: { retentionDays: 30, maxPageSize: 200 },
};

/** The families of the table of limits, claimed without any limit. */
const WITHOUT_LIMITS: Facets = {
  agents: { reasoning: {} },
  aiProviders: { supported: ['anthropic'] },
  blobStorage: {},
  cache: {},
  deadLetter: {},
  dispatch: {},
  envelopes: { reliability: {} },
  fs: {},
  httpClient: { ssrfGuard: true, methods: ['GET'], safeFetch: true },
  kvStorage: {},
  multiPartyConversation: {},
  prompts: {},
  tableStorage: {},
  triggerBridge: { ingestion: {} },
  uiPlugins: {},
  workflowChainPacks: { subChains: {} },
};

/** @see Interface: Limits, values advertised by the reference host */
const TABLE_OF_LIMITS = {
  limits: {
    clarificationRounds: 5,
    schemaRounds: 3,
    envelopesPerTurn: 32,
    maxNodeExecutions: 1000,
    maxRunDurationMs: 600_000,
    maxRequestBodyBytes: 1_048_576,
  },
  agents: { reasoning: { tokenLimit: 512 } },
  aiProviders: { maxInlineMediaBytes: 262_144 },
  blobStorage: { maxObjectBytes: 52_428_800 },
  cache: { maxValueBytes: 1_048_576, maxTtlSeconds: 86_400 },
  deadLetter: { retentionDays: 30 },
  dispatch: { maxFanOut: 16 },
  envelopes: { reliability: { maxRetryAttempts: 3, truncationBudgetMultiplier: 2 } },
  fs: { maxFileSizeBytes: 52_428_800 },
  httpClient: { maxResponseBodyBytes: 10_485_760, requestTimeoutMs: 30_000 },
  kvStorage: { maxKeyBytes: 1024, maxValueBytes: 1_048_576, maxTtlSeconds: 604_800 },
  multiPartyConversation: { maxParticipants: 8 },
  prompts: { maxTemplateBytes: 65_536 },
  tableStorage: { maxRowsPerTable: 100_000, maxColumnsPerRow: 128 },
  triggerBridge: { ingestion: { maxBodyBytes: 1_048_576 } },
  uiPlugins: { maxEntryBytes: 2_097_152 },
  workflowChainPacks: { subChains: { maxDepth: 8 } },
};

describe(covers('limits.discovery.reference-values'), () => {
  const capabilities: DiscoveryOptions = { families: WITHOUT_LIMITS, limits: {} };

  test("a limit that a host does not declare gets the interface's value, in both majors", () => {
    const over = { maxRequestBodyBytes: DEFAULT_MAX_REQUEST_BODY_BYTES };
    expect(documentV1(facts(capabilities, over))).toMatchObject(TABLE_OF_LIMITS);
    expect(documentV2(facts(capabilities, over), '2.0')).toMatchObject(TABLE_OF_LIMITS);
  });

  test("major 1 publishes the interface's limit of workspace files", () => {
    const document = documentV1(facts({}, { workspaceFiles: WORKSPACE_FILE_DEFAULTS }));
    expect(document).toMatchObject({ workspace: { maxFileBytes: 65_536 } });
  });

  test('a declared limit is published, and the limits of other families are not', () => {
    const stated: DiscoveryOptions = {
      families: { cache: { maxTtlSeconds: 60 }, agents: {} },
      limits: { schemaRounds: 7 },
    };
    for (const document of [documentV1(facts(stated)), documentV2(facts(stated), '2.0')]) {
      expect(document).toMatchObject({
        cache: { maxTtlSeconds: 60, maxValueBytes: 1_048_576 },
        limits: { schemaRounds: 7, clarificationRounds: 5 },
      });
      expect(document).not.toHaveProperty('kvStorage');
      expect(document).not.toHaveProperty('agents.reasoning');
    }
    expect(documentV1(facts())).not.toHaveProperty('limits.maxRunDurationMs');
  });

  test("the schema does not add limits to another host's document", () => {
    const document = documentV1(facts({ families: { cache: {} } }));
    const foreign = { ...document, cache: { supported: true }, capabilities: {} };
    expect(DISCOVERY_V1.parse(foreign)).toHaveProperty('cache', { supported: true });
  });
});

describe(covers('errors.code.provider-policy-denied'), () => {
  const families: Facets = { aiProviders: { supported: ['openai'] } };

  test.each([
    [1, documentV1(facts({ families }))],
    [2, documentV2(facts({ families }), '2.0')],
  ])('a record of providers has its error code, in major %i', (_major, document) => {
    expect(document).toHaveProperty('aiProviders.errorCode', 'provider_policy_denied');
  });

  test('both schemas reject a record without the error code or with another one', () => {
    const v1 = documentV1(facts({ families }));
    const v2 = documentV2(facts({ families }), '2.0');
    const claim = { status: 'stable', since: '2.0', witness: 'witnessable-unaided' };
    for (const errorCode of [undefined, 'forbidden']) {
      const named = errorCode === undefined ? {} : { errorCode };
      expect(DISCOVERY_V1.safeParse({ ...v1, aiProviders: { supported: ['openai'], ...named } }).success).toBe(false);
      expect(
        DISCOVERY_V2.safeParse({ ...v2, aiProviders: { ...claim, providers: ['openai'], ...named } }).success,
      ).toBe(false);
    }
    expect(DISCOVERY_V1.safeParse(v1).success && DISCOVERY_V2.safeParse(v2).success).toBe(true);
  });
});

const signingKey = { keyId: 'key-1', alg: 'ed25519', publicKey: 'A'.repeat(43), use: 'certification-bundle' } as const;

describe(covers('discovery.document.builder-values'), () => {
  test('both majors publish every value that the interface names', () => {
    const v1: Record<string, unknown> = documentV1(facts({ families: EVERYTHING }));
    const v2: Record<string, unknown> = documentV2(facts({ families: EVERYTHING }), '2.0');
    for (const [name, facets] of Object.entries(EVERYTHING)) {
      expect(v1[name]).toMatchObject(facets);
      // In major 2 every replay suppresses effects, so the facet is gone.
      const { supported, sideEffectSuppression: _, ...others } = facets as Record<string, unknown>;
      const listed = name === 'aiProviders' ? { providers: supported } : name === 'i18n' ? { locales: supported } : {};
      // This family has another name in major 2.
      expect(v2[name === 'interrupts' ? 'interrupt' : name]).toMatchObject({ ...others, ...listed });
    }
  });

  test.each([
    ['httpClient', { ssrfGuard: false, methods: ['GET'], safeFetch: true }, /httpClient/],
    ['httpClient', { ssrfGuard: true, methods: ['TRACE'], safeFetch: true }, /methods/],
    ['secrets', { scopes: ['world'], resolution: 'host-managed' }, /scopes/],
    ['interrupts', { kinds: [] }, /kinds/],
    ['interrupts', { kinds: ['approval', 'approval'] }, /must not repeat/],
    ['feedback', { targets: ['run'], signals: ['applause'] }, /signals/],
    ['i18n', { default: 'de', supported: ['en'] }, /i18n/],
    ['i18n', { default: 'english language', supported: ['en'] }, /language tag/],
    ['a2a', { protocolVersions: ['1'], preferredVersion: '1.0' }, /two integers/],
    ['mcp', { revisions: ['2026-02-30'], preferredVersion: '2026-02-30' }, /revisions/],
    ['multiAgent', { executionModel: { version: 3 } }, /version/],
    ['triggerBridge', { sources: ['pigeon'] }, /sources/],
    ['triggerBridge', { ingestion: { verification: ['trust'] } }, /verification/],
    ['cache', { maxValueBytes: 0 }, /maxValueBytes/],
    ['cache', { maxSize: 1 }, /maxSize/],
    ['telepathy', {}, /telepathy/],
  ])('rejects %s %j and names the fault', (name, facets, problem) => {
    const capabilities = { families: { [name]: facets } } as DiscoveryOptions;
    expect(() => documentV2(facts(capabilities), '2.0')).toThrow(problem);
    expect(() => documentV1(facts(capabilities))).toThrow(TypeError);
  });
});

describe(
  covers(
    'discovery.document.v1-families-at-root',
    'discovery.document.v1-root-fields',
    'discovery.document.webhooks-v1',
  ),
  () => {
    const document: Record<string, unknown> = documentV1(facts({ families: EVERYTHING }));

    test('publishes every family at the root, and again under capabilities', () => {
      const mirror = Object(document.capabilities);
      expect(Object.keys(mirror)).toEqual(expect.arrayContaining(Object.keys(EVERYTHING)));
      for (const [name, record] of Object.entries(mirror)) expect(document[name]).toEqual(record);
    });

    test.each([
      'protocolVersion',
      'protocolVersions',
      'preferredVersion',
      'implementation',
      'supportedEnvelopes',
      'schemaVersions',
      'limits',
      'capabilities',
    ])('has the member %s', (name) => expect(document[name]).toBeDefined());

    test.each([
      [true, DURABLE],
      [false, {}],
    ])('publishes the durable delivery of webhooks when it is %s', (durable, how) => {
      const { webhooks } = documentV1(facts({}, { webhooks: { ...facts().webhooks, durable } }));
      expect(webhooks).toEqual({ supported: true, signed: true, signatureAlgorithms: ['v1'], durable, ...how });
    });
  },
);

describe(
  covers(
    'discovery.document.v2-closed-root',
    'discovery.document.v2-record-shape',
    'discovery.document.v2-removed-members',
    'versioning.axes.protocol-version-twin',
    'versioning.axes.engine-version-root',
    'versioning.axes.event-log-schema-advertised',
  ),
  () => {
    const METADATA = [
      ...[
        'protocolVersion',
        'protocolVersions',
        'preferredVersion',
        'minClientVersion',
        'implementation',
        'engineVersion',
      ],
      ...['eventLogSchemaVersion', 'signingKeys', 'extensions', 'fixtures'],
    ];
    const document: Record<string, unknown> = documentV2(
      facts({
        families: EVERYTHING,
        signingKeys: [signingKey],
        extensions: { 'acme.tools': { path: '/host/acme/tools' } },
        envelopeKinds: ['error'],
      }),
      '2.0',
    );

    test('publishes metadata and records alone, none with the member supported', () => {
      for (const [name, value] of Object.entries(document)) {
        if (METADATA.includes(name)) continue;
        expect([name, value]).toEqual([
          name,
          expect.objectContaining({ status: 'stable', since: '2.0', witness: expect.any(String) }),
        ]);
        expect(value).not.toHaveProperty('supported');
      }
    });

    test.each([
      'capabilities',
      'hostExtensions',
      'contractProvenance',
      'supportedTransports',
      'profiles',
      'grpc',
      'anything',
    ])('has no member %s at its root', (name) => {
      expect(document).not.toHaveProperty(name);
      expect(DISCOVERY_V2.safeParse({ ...document, [name]: {} }).success).toBe(false);
    });

    test('publishes the engine version and the log version of new runs', () => {
      expect(document).toMatchObject({ engineVersion: 1, eventLogSchemaVersion: 3 });
    });

    describe(covers('webhooks.durable.v2-facet'), () => {
      const webhooksOf = (over: Partial<DiscoveryInput['webhooks']>) =>
        documentV2(facts({}, { webhooks: { ...facts().webhooks, ...over } }), '2.0').webhooks;

      test('lists the signature algorithms, and the overlap of a secret rotation', () => {
        const webhooks = webhooksOf({});
        expect(webhooks).toMatchObject({
          signatureAlgorithms: ['v1', 'standard-webhooks-1'],
          secretRotation: { overlapSeconds: 3600 },
          ...DURABLE,
        });
        expect(webhooks).not.toHaveProperty('durable');
      });

      test('publishes no secret rotation when v1 is the only algorithm', () => {
        expect(webhooksOf({ signatureAlgorithms: ['v1'] })).not.toHaveProperty('secretRotation');
      });

      test.each([59, 604_801, 60.5])('rejects an overlap of %s s', (overlapSeconds) => {
        expect(() => webhooksOf({ secretRotation: { overlapSeconds } })).toThrow(/overlapSeconds/);
      });
    });

    test('publishes protocolVersion only as long as major 1 is served', () => {
      expect(document.protocolVersion).toBe('1.1');
      expect(documentV2(facts({}, { versions: ['2.0'], preferred: '2.0' }), '2.0')).not.toHaveProperty(
        'protocolVersion',
      );
    });

    test.each([
      [{ status: 'deprecated' }, /until must be present for status experimental or deprecated/],
      [{ until: '2027-01-01' }, /until must be present for status experimental or deprecated/],
      [{ status: 'gone' }, /status/],
      [{ since: '2.7' }, /claims\.kanban\.since: this host does not serve version 2\.7/],
    ] as const)('rejects the claim %j', (claim, problem) => {
      const capabilities = { families: { kanban: {} }, claims: { kanban: claim } } as DiscoveryOptions;
      expect(() => documentV2(facts(capabilities), '2.0')).toThrow(problem);
    });

    test('publishes the end of a deprecated family', () => {
      const capabilities: DiscoveryOptions = {
        families: { kanban: {} },
        claims: { kanban: { status: 'deprecated', until: '2027-01-01' } },
      };
      expect(documentV2(facts(capabilities), '2.0')).toMatchObject({
        kanban: { status: 'deprecated', until: '2027-01-01' },
      });
    });
  },
);

describe(covers('versioning.release.experimental-opt-in'), () => {
  const capabilities: DiscoveryOptions = {
    families: { kanban: {}, cache: {} },
    claims: { kanban: { status: 'experimental', until: '2.1' } },
  };

  test('leaves an experimental family out of both documents unless experimental is true', () => {
    for (const document of [documentV1(facts(capabilities)), documentV2(facts(capabilities), '2.0')]) {
      expect(document).not.toHaveProperty('kanban');
      expect(document).toHaveProperty('cache');
    }
    const opted = { ...capabilities, experimental: true };
    expect(documentV2(facts(opted), '2.0')).toHaveProperty('kanban.status', 'experimental');
    expect(documentV1(facts(opted))).toHaveProperty('kanban.supported', true);
  });
});

describe(covers('discovery.document.signing-keys'), () => {
  test.each([
    [signingKey, true],
    [{ ...signingKey, retiredAt: '2026-01-01T00:00:00Z' }, true],
    [{ ...signingKey, alg: 'rs256' }, false],
    [{ ...signingKey, use: 'sig' }, false],
    [{ ...signingKey, publicKey: 'A'.repeat(42) }, false],
    [{ ...signingKey, keyId: 'a b' }, false],
    [{ ...signingKey, privateKey: 'x' }, false],
    [{ keyId: 'key-1' }, false],
  ])('%j: %s', (key, isRight) => {
    const capabilities = { signingKeys: [key] } as DiscoveryOptions;
    for (const build of [() => documentV1(facts(capabilities)), () => documentV2(facts(capabilities), '2.0')]) {
      if (isRight) expect(build()).toHaveProperty('signingKeys.0.keyId', 'key-1');
      else expect(build).toThrow(/signingKeys/);
    }
  });
});

describe(covers('discovery.document.envelope-kinds', 'versioning.axes.schema-versions-map'), () => {
  test('publishes a schema version for each declared kind, and for no other', () => {
    const capabilities: DiscoveryOptions = { envelopeKinds: ['error', 'media.image'] };
    expect(documentV1(facts(capabilities))).toMatchObject({
      supportedEnvelopes: ['error', 'media.image'],
      schemaVersions: { error: 1, 'media.image': 1, runEvent: 1, capabilities: 1 },
    });
    expect(documentV2(facts(capabilities), '2.0')).toMatchObject({
      supportedEnvelopes: { kinds: ['error', 'media.image'] },
      schemaVersions: { kinds: { error: 1, 'media.image': 1 } },
    });
    expect(() => documentV1(facts({ envelopeKinds: ['telegram'] } as unknown as DiscoveryOptions))).toThrow(
      /supportedEnvelopes/,
    );
    expect(
      DISCOVERY_V2.safeParse({ ...documentV2(facts(capabilities), '2.0'), schemaVersions: { kinds: { telegram: 1 } } })
        .success,
    ).toBe(false);
  });
});

describe(covers('discovery.document.feature-surface-form', 'versioning.paths.vendor-advertised'), () => {
  test('accepts feature surfaces and extensions of the right form', () => {
    expect(documentV1(facts({ featureSurfaces: ['host.sample.board'] }))).toHaveProperty(
      'hostExtensions.featureSurfaces',
      ['host.sample.board'],
    );
    expect(() => documentV1(facts({ featureSurfaces: ['board'] }))).toThrow(/host\.sample\.<name>/);
    const extensions = { 'acme.tools': { path: '/host/acme/tools' } };
    expect(documentV2(facts({ extensions }), '2.0')).toHaveProperty(
      ['extensions', 'acme.tools', 'path'],
      '/host/acme/tools',
    );
  });

  test.each(['tools', 'Acme.tools', 'svc.tools', 'vendor.x', 'events.x', 'acme.', 'acme.a.b'])(
    'rejects the extension %s',
    (name) => {
      expect(() => documentV2(facts({ extensions: { [name]: {} } }), '2.0')).toThrow(/extensions/);
    },
  );
});

describe(covers('versioning.release.schema-identifiers'), () => {
  test('the JSON Schemas accept the published documents, and have the identifiers of their majors', () => {
    expect(DISCOVERY_JSON_SCHEMAS[2]).toHaveProperty('$id', expect.stringContaining('/spec/v2/'));
    expect(DISCOVERY_JSON_SCHEMAS[1]).toHaveProperty('$id', 'https://svc.example/spec/v1/discovery.schema.json');
    const [v1, v2] = [documentV1(facts({ families: EVERYTHING })), documentV2(facts({ families: EVERYTHING }), '2.0')];
    for (const [schema, document] of [
      [DISCOVERY_JSON_SCHEMAS[1], v1],
      [DISCOVERY_JSON_SCHEMAS[2], v2],
    ] as const) {
      const problems = strictValidator(schema);
      expect(problems(document)).toEqual([]);
      expect(problems({ ...document, anything: 1 })).not.toEqual([]);
    }
    expect(DISCOVERY_V1.safeParse(v1).success).toBe(true);
  });
});

describe('a published document', () => {
  const both = served({ versions: ['1.1', '2.0'], preferred: '1.1' });

  test(covers('discovery.document.strong-etag'), () => {
    const [one, same, other] = [{}, {}, { families: { kanban: {} } }].map((capabilities) => {
      const documents = discoveryDocuments(facts(capabilities), both);
      return { 1: representation(documents[1]), 2: representation(documents[2]) };
    });
    expect(one?.[1].etag).toMatch(/^"[A-Za-z0-9_-]{27}"$/);
    expect(one?.[1].etag).not.toBe(one?.[2].etag);
    expect(one?.[2].etag).toBe(same?.[2].etag);
    expect(one?.[2].etag).not.toBe(other?.[2].etag);
  });

  test('publishes the version that the host was given', () => {
    expect(parseSemanticVersion(String(documentV1(facts()).implementation?.version))).toBeDefined();
  });
});

describe(covers('versioning.axes.reference-interop'), () => {
  test('publishes A2A and MCP as the reference host does', () => {
    const document = documentV2(facts({ families: REFERENCE_INTEROP }), '2.0');
    expect(document).toMatchObject({
      a2a: { protocolVersions: ['1.0', '0.3'], preferredVersion: '1.0' },
      mcp: { revisions: ['2026-07-28', '2025-06-18'], preferredVersion: '2026-07-28' },
    });
  });
});

describe('a scope', () => {
  test(`${covers('auth.tenancy.scoped-discovery-monotone')} A scope removes families and adds nothing`, () => {
    const kit = ['auth', 'authorization', 'webhooks', 'restTransport', 'eventLog', 'idempotency', 'runList'];
    const names = [...Object.keys(EVERYTHING), ...kit, 'telepathy'];
    const scopes = fc.subarray(names);
    const documents: Record<string, unknown>[] = [
      documentV1(facts({ families: EVERYTHING, otherFamilies: { telepathy: {} } })),
      documentV2(facts({ families: EVERYTHING, otherFamilies: { telepathy: {} } }), '2.0'),
    ];
    fc.assert(
      fc.property(scopes, scopes, fc.constantFrom(...documents), (wide, more, document) => {
        const narrow = scopeDiscovery(document, new Set(wide.filter((name) => !more.includes(name))));
        const wider = scopeDiscovery(document, new Set(wide));
        for (const [name, value] of Object.entries(narrow)) {
          if (name === 'capabilities') expect(wider.capabilities).toMatchObject(value as object);
          else expect(wider[name]).toEqual(value);
        }
        for (const name of Object.keys(wider)) expect(document).toHaveProperty([name]);
        for (const name of names) {
          const inDocument = name === 'interrupts' && 'interrupt' in document ? 'interrupt' : name;
          if (wide.includes(name)) continue;
          expect(wider).not.toHaveProperty([inDocument]);
          expect(Object(wider.capabilities)).not.toHaveProperty([inDocument]);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('a family that the kit describes', () => {
  test.each([
    ['webhooks', { signatureAlgorithms: ['v1'] }],
    ['authorization', {}],
    ['workspace', { maxFileBytes: 1 }],
    ['idempotency', {}],
    ['eventLog', {}],
    ['restTransport', {}],
    ['runList', { maxPageSize: 1 }],
  ])('%s is rejected as a claim of the host', (name, claimed) => {
    const capabilities = { families: { [name]: claimed } } as DiscoveryOptions;
    const message = `discovery.families.${name}: the kit describes this family itself`;
    expect(() => documentV1(facts(capabilities))).toThrow(message);
    expect(() => documentV2(facts(capabilities), '2.0')).toThrow(message);
  });
});

describe('a family that the interface does not have', () => {
  const otherFamilies = { telepathy: { facets: { range: 3 }, claim: { witness: 'claims-check' } } } as const;

  test('is published in both majors', () => {
    const [v1, v2] = [documentV1(facts({ otherFamilies })), documentV2(facts({ otherFamilies }), '2.0')];
    expect(v1.telepathy).toEqual({ supported: true, range: 3 });
    expect(v1.capabilities.telepathy).toEqual(v1.telepathy);
    expect(v2.telepathy).toEqual({ status: 'stable', since: '2.0', witness: 'claims-check', range: 3 });
  });

  test('is left out while its claim is experimental', () => {
    const claim = { status: 'experimental', until: '2.1' } as const;
    const capabilities = { otherFamilies: { telepathy: { claim } } };
    expect(documentV1(facts(capabilities))).not.toHaveProperty('telepathy');
    expect(documentV2(facts({ ...capabilities, experimental: true }), '2.0')).toMatchObject({ telepathy: claim });
  });

  test.each([
    ['webhooks', 'the interface has a member of this name'],
    ['interrupt', 'the interface has a member of this name'],
    ['capabilities', 'the interface has a member of this name'],
    ['contractProvenance', 'the interface has a member of this name'],
    ['Telepathy', 'lower camel case'],
    ['tele.pathy', 'lower camel case'],
    ['__proto__x', 'lower camel case'],
  ])('is rejected under the name %s', (name, problem) => {
    const capabilities = { otherFamilies: { [name]: {} } };
    expect(() => documentV1(facts(capabilities))).toThrow(problem);
    expect(() => documentV2(facts(capabilities), '2.0')).toThrow(problem);
  });
});

describe('contractProvenance', () => {
  const contractProvenance = { suiteVersion: '2.35.0' };

  test('is published in major 1 alone', () => {
    expect(documentV1(facts({ contractProvenance }))).toMatchObject({ contractProvenance });
    expect(documentV2(facts({ contractProvenance }), '2.0')).not.toHaveProperty('contractProvenance');
  });

  test.each(['2.35', 'v2.35.0', ''])('rejects the version %j', (suiteVersion) => {
    expect(() => documentV1(facts({ contractProvenance: { suiteVersion } }))).toThrow('suiteVersion');
  });
});
