import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { isLinkable, type OwnerRecord, projectOwner, type SubjectRecord } from '../src/projection/index.ts';

const subject: SubjectRecord = {
  issuer: 'https://idp.example',
  subjectId: 'p_1',
  tenant: 'acme',
  lane: 'saml',
  kind: 'user',
  keyClass: 'email',
};

describe(covers('runs.owner.shape'), () => {
  test.each([
    [{ tenant: 't' }, { tenant: 't' }, { tenant: 't' }],
    [
      { tenant: 'acme', workspace: 'w', principal: 'p_1', principalKind: 'user', subject },
      { tenant: 'acme', workspace: 'w', principal: 'p_1', principalKind: 'user', subject },
      { tenant: 'acme', workspace: 'w', subject },
    ],
    [{ tenant: 't', principalKind: 'anonymous' }, { tenant: 't', principalKind: 'anonymous' }, { tenant: 't' }],
  ] as [OwnerRecord, object, object][])('projects %j', (owner, inMajor1, inMajor2) => {
    expect(projectOwner[1](owner)).toStrictEqual(inMajor1);
    expect(projectOwner[2](owner)).toStrictEqual(inMajor2);
  });

  test('does not show the lane that the host attests', () => {
    expect(projectOwner[1]({ tenant: 't', principal: 'p', attestedLane: 'oidc' })).toEqual({
      tenant: 't',
      principal: 'p',
    });
  });
});

describe(
  covers(
    'runs.subject.legacy-synthesized',
    'runs.subject.legacy-lane-and-kind',
    'runs.subject.legacy-not-linkable',
    'runs.subject.no-principal-no-subject',
  ),
  () => {
    test.each([
      [
        { tenant: 't', principal: 'p' },
        { lane: 'api-key', kind: 'user' },
      ],
      [
        { tenant: 't', principal: 'p', attestedLane: 'oidc', principalKind: 'agent' },
        { lane: 'oidc', kind: 'agent' },
      ],
    ] as [OwnerRecord, object][])('synthesises the subject of %j', (owner, expected) => {
      const { subject: synthesized } = projectOwner[2](owner);
      expect(synthesized).toEqual({ issuer: 'urn:svc:legacy', subjectId: 'p', tenant: 't', ...expected });
      expect(synthesized !== undefined && isLinkable(synthesized)).toBe(false);
    });

    test('links the subject of an issuer, and synthesises none for a run without a principal', () => {
      expect(isLinkable(subject)).toBe(true);
      expect(projectOwner[2]({ tenant: 't', principalKind: 'agent' })).toEqual({ tenant: 't' });
    });
  },
);
