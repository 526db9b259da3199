import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalEventName, EVENT_RENAMES, eventName } from '../src/event-names.ts';
import { bindId, mintId, projectId, resolveId } from '../src/ids.ts';
import { errorEnvelope, projectOwner } from '../src/projection/index.ts';

const id = 'run_01m7xrhy09bvyvjx';
const resolve = (segment: string, context: { major?: 1 | 2; overlap?: boolean } = {}) => {
  const resolved = resolveId(segment, { tenant: 'acme', major: 2, overlap: true, ...context });
  return resolved.ok ? resolved.id : resolved.error.code;
};

describe(covers('versioning.ids.projection', 'versioning.ids.tenant-mismatch-403'), () => {
  test.each([
    [`acme~2F${id}`, id],
    [`acme~2f${id}`, id],
    [`acme%2F${id}`, id],
    [id, id],
    [`other~2F${id}`, 'id_tenant_mismatch'],
    [`acme~2F${id}~2Fx`, 'validation_error'],
    ['acme~2Fshort', 'validation_error'],
    [`acme~2${id}`, 'validation_error'],
    [`acme~zz${id}`, 'validation_error'],
    [`acme%zz${id}`, 'validation_error'],
    [`acme%252F${id}`, 'validation_error'],
    [`~2F${id}`, 'validation_error'],
  ])('resolves %s to %s', (segment, expected) => expect(resolve(segment)).toBe(expected));

  test('rejects the bare form after the overlap', () =>
    expect(resolve(id, { overlap: false })).toBe('validation_error'));
  test('accepts only bare ids in major 1', () => {
    expect(resolve('any-id', { major: 1 })).toBe('any-id');
    expect(resolve(`acme%2F${id}`, { major: 1 })).toBe('validation_error');
  });

  test('projects a bound id to one path segment and back', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9._-]{1,40}$/);
    const opaque = fc.stringMatching(/^[A-Za-z0-9._-]{16,60}$/);
    fc.assert(
      fc.property(name, opaque, (tenant, bare) => {
        const segment = projectId(bindId(tenant, bare));
        expect(segment).toMatch(/^[A-Za-z0-9._~-]+$/);
        expect(resolveId(segment, { tenant, major: 2, overlap: false })).toEqual({ ok: true, id: bare });
      }),
    );
  });

  test('never throws, and resolves only to ids of the grammar', () => {
    fc.assert(
      fc.property(fc.string(), (segment) => {
        const resolved = resolveId(segment, { tenant: 'acme', major: 2, overlap: true });
        if (resolved.ok) expect(resolved.id).toMatch(/^[A-Za-z0-9._~-]{16,128}$/);
      }),
    );
  });
});

test('mints ids that match the grammar of both majors, sort by time and do not repeat', () => {
  let time = 1_700_000_000_000;
  let seed = 1;
  const random = (size: number) =>
    Uint8Array.from({ length: size }, () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed & 255;
    });
  const ids = Array.from({ length: 500 }, () => mintId('run', () => (time += 7), random));
  for (const minted of ids) expect(minted).toMatch(/^[A-Za-z0-9._-]{16,128}$/);
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

describe('event names', () => {
  test('maps 36 names one to one', () => {
    expect(EVENT_RENAMES.length).toBe(36);
    for (const [v1, v2] of EVENT_RENAMES) {
      expect([eventName(1, v2), eventName(2, v2), canonicalEventName(1, v1), canonicalEventName(2, v2)]).toEqual([
        v1,
        v2,
        v2,
        v2,
      ]);
      expect([canonicalEventName(1, v2), canonicalEventName(2, v1)]).toEqual([undefined, undefined]);
    }
  });
  test('leaves all other names unchanged', () => {
    expect([eventName(1, 'run.started'), canonicalEventName(1, 'run.started'), eventName(1, 'acme.own-event')]).toEqual(
      ['run.started', 'run.started', 'acme.own-event'],
    );
  });
});

describe(
  covers(
    'errors.envelope.scope-required-v1',
    'errors.envelope.scope-required-v2',
    'errors.rate-limited.v2-header-only',
  ),
  () => {
    test.each([
      [1, { scopeRequired: 'a:b' }, { scopeRequired: 'a:b' }],
      [2, { scopeRequired: 'a:b' }, { details: { scopeRequired: 'a:b' } }],
      [1, { limit: 1, retryAfterSeconds: 2 }, { details: { limit: 1, retryAfterSeconds: 2 } }],
      [2, { limit: 1, retryAfterSeconds: 2 }, { details: { limit: 1 } }],
      [2, { retryAfterSeconds: 2 }, {}],
      [1, undefined, {}],
    ] as const)('in major %d projects the details %j to %j', (major, details, extra) => {
      expect(errorEnvelope[major]({ code: 'c', message: 'm', details })).toEqual({
        error: 'c',
        message: 'm',
        ...extra,
      });
    });
  },
);

describe(
  covers(
    'runs.subject.legacy-synthesized',
    'runs.subject.no-principal-no-subject',
    'runs.subject.legacy-lane-and-kind',
  ),
  () => {
    test('major 2 shows only the scope and the subject', () => {
      expect(projectOwner[2]({ tenant: 't', workspace: 'w', principal: 'p' })).toEqual({
        tenant: 't',
        workspace: 'w',
        subject: { issuer: 'urn:svc:legacy', subjectId: 'p', tenant: 't', lane: 'api-key', kind: 'user' },
      });
      expect(projectOwner[2]({ tenant: 't' })).toEqual({ tenant: 't' });
    });
  },
);
