import { describe, expect, test } from 'vitest';
import { protectedResourceMetadata, protectedResourceUrl } from './protected-resource.ts';

describe('protected resource metadata (RFC 9728)', () => {
  test.each([
    ['https://svc.example.com', 'https://svc.example.com/.well-known/oauth-protected-resource'],
    ['https://svc.example.com/', 'https://svc.example.com/.well-known/oauth-protected-resource'],
    ['https://example.com/svc', 'https://example.com/.well-known/oauth-protected-resource/svc'],
  ])('of %s is served at %s', (resource, url) => {
    expect(protectedResourceUrl(resource)).toBe(url);
  });

  test('names each issuer once, and claims a binding only when every lane requires it', () => {
    const options = { resource: 'https://svc.example.com', issuers: ['https://a', 'https://a'], scopes: ['runs:read'] };
    expect(protectedResourceMetadata(options)).toEqual({
      resource: 'https://svc.example.com',
      authorization_servers: ['https://a'],
      scopes_supported: ['runs:read'],
      bearer_methods_supported: ['header'],
    });
    expect(protectedResourceMetadata({ ...options, requires: { dpop: true, mtls: false } })).toHaveProperty(
      'dpop_bound_access_tokens_required',
      true,
    );
  });
});
