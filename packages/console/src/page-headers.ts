/** Headers of every answer. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * The policy of a page. The page runs the script of its build and no other, talks to its own origin alone, and is framed by
 * `embedder` alone. No policy of Trusted Types is allowed, so no text becomes markup or script even by mistake.
 */
function policyFor(embedder: string): string {
  return [
    "default-src 'none'",
    ...["script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"],
    ...["base-uri 'none'", "form-action 'none'", `frame-ancestors ${embedder}`],
    ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
  ].join('; ');
}

/** Headers of the page. A browser asks again at each visit, so that it finds the files of a new release. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...SAFE_HEADERS,
  'content-security-policy': policyFor("'none'"),
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cache-control': 'no-cache',
};

/** Headers of the page of the portal, for the one origin that may embed it. */
export function embeddedPageHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    ...PAGE_HEADERS,
    'content-security-policy': policyFor(origin),
    // A page that isolates itself may embed this one.
    'cross-origin-embedder-policy': 'require-corp',
    'cross-origin-resource-policy': 'cross-origin',
  };
}

/** Headers of the files, whose names change with their content. */
export const ASSET_HEADERS: Readonly<Record<string, string>> = {
  ...SAFE_HEADERS,
  'cache-control': 'public, max-age=31536000, immutable',
};
