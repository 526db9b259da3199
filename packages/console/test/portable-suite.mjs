// Runs in every runtime against the package as it is built, so it uses nothing but the language and the Web's own
// types.
import { createConsole } from '@svc/console';

/** @returns {Promise<{ total: number, failures: string[] }>} */
export default async function suite() {
  const failures = [];
  let total = 0;
  const check = (name, actual, expected) => {
    total += 1;
    if (actual !== expected) failures.push(`${name}: ${actual}, expected ${expected}`);
  };
  const page = createConsole();
  // A browser removes `Accept-Encoding` from a `Request` of a script, so this is a request of a server.
  const get = (path, accepted, method = 'GET') =>
    page.fetch({ url: `https://host.example${path}`, method, headers: new Headers({ 'accept-encoding': accepted }) });

  const plain = await get('/console/', 'identity');
  const html = await plain.text();
  check('the page', plain.status, 200);
  check('its text', html.startsWith('<!doctype html>'), true);
  check('its policy', plain.headers.get('content-security-policy').startsWith("default-src 'none'; "), true);
  check('its length', Number(plain.headers.get('content-length')), new TextEncoder().encode(html).length);

  const [, script] = /src="([^"]+)"/.exec(html);
  for (const coding of ['br', 'gzip']) {
    const response = await get(`/console/${script}`, coding);
    check(`the script in ${coding}`, response.status, 200);
    check(`the coding ${coding}`, response.headers.get('content-encoding'), coding);
    const bytes = await response.arrayBuffer();
    check(`the length in ${coding}`, Number(response.headers.get('content-length')), bytes.byteLength);
  }
  const whole = await (await get(`/console/${script}`, 'identity')).text();
  check('the script', whole.length > 30_000, true);
  check('the path without a slash', (await get('/console', 'br')).status, 308);
  check('another method', (await get('/console/', 'br', 'POST')).status, 405);
  check('another path', await get('/runs', 'br'), undefined);
  return { total, failures };
}
