import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { env } from 'node:process';

const DIST = join(env.SVC_CHECKOUT, 'packages/console/dist');
const require = createRequire(import.meta.url);
const umd = (name) => join(dirname(require.resolve(`${name}/package.json`)), `umd/${name}.production.min.js`);

const PLAIN = `import { definePortalElement } from '/dist/portal-element/index.js';
definePortalElement();
const portal = document.createElement('svc-portal');
portal.addEventListener('svc-portal-ended', () => { document.title = 'ended'; });
addEventListener('show', ({ detail }) => { portal.setAttribute('src', detail); });
document.body.append(portal);
`;

const REACT = `import { portalComponent } from '/dist/portal-react/index.js';
const { createElement, useEffect, useRef } = React;
const SvcPortal = portalComponent({ createElement, useEffect, useRef });
const root = ReactDOM.createRoot(document.getElementById('app'));
const onEnded = () => { document.title = 'ended'; };
addEventListener('show', ({ detail: src }) => root.render(createElement(SvcPortal, { src, onEnded, title: 'Our webhooks' })));
`;

/**
 * Starts the application of a customer, which embeds the portal, at an origin of its own. Its policy is as strict as that of
 * the portal.
 */
export async function startEmbedder(host) {
  const html = (scripts) =>
    `<!doctype html><html lang="en"><title>app</title><body><main><h1>Our app</h1><div id="app"></div></main>${scripts}`;
  const pages = {
    '/': ['text/html', html('<script type="module" src="/plain.js"></script>')],
    '/react': [
      'text/html',
      html(
        '<script src="/react.js"></script><script src="/react-dom.js"></script><script type="module" src="/component.js"></script>',
      ),
    ],
    '/plain.js': ['text/javascript', PLAIN],
    '/component.js': ['text/javascript', REACT],
    '/react.js': ['text/javascript', readFileSync(umd('react'))],
    '/react-dom.js': ['text/javascript', readFileSync(umd('react-dom'))],
  };
  const policy = `default-src 'none'; script-src 'self'; style-src 'self'; frame-src ${host.url}; require-trusted-types-for 'script'; trusted-types 'none'`;
  const server = createServer((request, response) => {
    const path = new URL(request.url, 'http://localhost').pathname;
    const isDist = path.startsWith('/dist/') && !path.includes('..') && path.endsWith('.js');
    const [type, body] = isDist
      ? ['text/javascript', readFileSync(join(DIST, path.slice('/dist/'.length)))]
      : (pages[path] ?? ['text/plain', undefined]);
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': type, 'content-security-policy': policy });
    response.end(body);
  });
  server.unref();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
