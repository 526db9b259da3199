import { brotliDecompressSync } from 'node:zlib';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PAGE_FILES } from '#portal';
import { createPortal } from '../src/portal/portal.ts';

const portal = createPortal();
const get = async (query: string, method = 'GET') => {
  const response = await portal.fetch(new Request(`https://host.example/portal/${query}`, { method }));
  if (response === undefined) throw new Error(`${query} is not answered.`);
  return response;
};
const ancestorsIn = (response: Response) =>
  /frame-ancestors ([^;]*)/.exec(response.headers.get('content-security-policy') ?? '')?.[1];
const asked = (origin: string) => get(`?origin=${encodeURIComponent(origin)}`);

describe(covers('portal.page.origin'), () => {
  test.each(['https://app.acme.example', 'https://app.acme.example:8443', 'http://localhost:5173', 'http://[::1]:80'])(
    '%s may embed the page, and no other origin',
    async (origin) => {
      const response = await asked(origin);
      expect([response.status, ancestorsIn(response)]).toEqual([200, origin]);
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
      expect(policy.replace(origin, '')).not.toMatch(/unsafe|https?:|\*/);
    },
  );

  test('no page embeds a page without an origin', async () => {
    const response = await get('');
    expect([response.status, ancestorsIn(response)]).toEqual([200, "'none'"]);
  });

  test.each([
    '*',
    "'self'",
    'https://*.acme.example',
    'https://app.acme.example/path',
    'https://app.acme.example; script-src *',
    'https://app.acme.example https://evil.example',
    'https://app.acme.example\r\nx: y',
    'http://app.acme.example',
    'https://user@app.acme.example',
    '',
  ])('the origin %j is refused', async (origin) => {
    expect((await asked(origin)).status).toBe(400);
  });

  test('two origins are refused', async () => {
    expect((await get('?origin=https://a.example&origin=https://b.example')).status).toBe(400);
  });

  test('whichever text is given, the policy has one ancestor', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: fc.constantFrom(..."https:/ap.le;*' ,[1]@") }), async (text) => {
        const response = await asked(`https://${text}`);
        if (response.status === 200) expect(ancestorsIn(response)).toMatch(/^https:\/\/[a-z0-9.:-]+$/);
      }),
    );
  });
});

test('the files of the portal are at most 25 KiB in Brotli', () => {
  const bytes = PAGE_FILES.reduce((sum, { br }) => sum + Buffer.from(br, 'base64').length, 0);
  console.log(`the portal: ${bytes} B in Brotli`);
  expect(bytes).toBeLessThanOrEqual(25 * 1024);
});

test('every theme that a session may have is in the style', () => {
  const sheet = PAGE_FILES.find(({ path }) => path.endsWith('.css'));
  const css = brotliDecompressSync(Buffer.from(sheet?.br ?? '', 'base64')).toString();
  for (const accent of ['blue', 'teal', 'green', 'violet', 'rose', 'slate'])
    expect(css).toContain(`data-accent=${accent}`);
  for (const value of ['data-scheme=light', 'data-scheme=dark', 'data-corners=slight', 'data-corners=square'])
    expect(css).toContain(value);
});

test('another path is left to the host, and a wrong option is refused', async () => {
  expect(await portal.fetch(new Request('https://host.example/portals'))).toBeUndefined();
  expect(() => createPortal({ path: 'portal' })).toThrow('createPortal: path must be');
  expect(() => createPortal({ paths: '/x' } as never)).toThrow('createPortal: paths is no option.');
  const moved = await portal.fetch(new Request('https://host.example/portal?origin=https://a.example'));
  expect(moved?.headers.get('location')).toBe('/portal/?origin=https://a.example');
});
