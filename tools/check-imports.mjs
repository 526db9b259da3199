// Who may import whom, between packages and between the rooms of host-kit.
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const LEAVES = ['@svc/webhook-verify', '@svc/auth', '@svc/versioning', '@svc/egress-guard'];

/** The workspaces that each workspace may import. */
const WORKSPACES = {
  'packages/webhook-verify': [],
  'packages/auth': [],
  'packages/versioning': [],
  'packages/egress-guard': [],
  'packages/host-kit': LEAVES,
  'examples/reference-host': [...LEAVES, '@svc/host-kit'],
  'examples/subscriber': ['@svc/webhook-verify'],
};

/** The rooms of host-kit, and the rooms that each may not look into: http knows no domain, domain knows no http, and so on. */
const FORBIDDEN_ROOMS = {
  http: ['routes', 'runs', 'webhooks', 'discovery', 'stores', 'wire', 'adapters'],
  runs: ['http', 'routes', 'webhooks', 'discovery', 'wire', 'adapters'],
  webhooks: ['http', 'routes', 'discovery', 'wire', 'adapters'],
  discovery: ['http', 'routes', 'stores', 'wire', 'adapters'],
  wire: ['http', 'routes', 'discovery', 'stores', 'adapters'],
  stores: ['http', 'routes', 'discovery', 'wire', 'adapters'],
  routes: ['stores', 'adapters'],
};

const DRAWERS = /(?:^|\/)(?:utils?|helpers?|common|shared|misc|types|constants|manager)(?:\/|\.ts$)/;

/** Every problem of a tree as a sentence. */
export function checkImports(root) {
  return Object.entries(WORKSPACES).flatMap(([folder, allowed]) => {
    const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const files = sourcesIn(join(root, folder, 'src'));
    const graph = new Map(files.map((file) => [file, specifiersIn(readFileSync(file, 'utf8'))]));
    return [
      ...files.flatMap((file) => problemsOf(root, folder, file, graph.get(file), manifest, allowed)),
      ...cyclesIn(graph).map((cycle) => `${cycle.map((file) => relative(root, file)).join(' → ')}: is a cycle`),
    ];
  });
}

function problemsOf(root, folder, file, specifiers, manifest, allowed) {
  const name = relative(root, file);
  const problems = DRAWERS.test(relative(join(root, folder), file))
    ? [`${name}: is a drawer; name it after what is in it`]
    : [];
  if (/^export \* /m.test(readFileSync(file, 'utf8'))) problems.push(`${name}: export * hides what is exported`);
  for (const specifier of specifiers) {
    if (specifier.startsWith('.')) {
      if (!specifier.endsWith('.ts')) problems.push(`${name}: ${specifier} must end in .ts`);
      const room = forbiddenRoom(root, folder, file, specifier);
      if (room !== undefined) problems.push(`${name}: may not look into ${room}`);
    } else if (!specifier.startsWith('#') && !isBuiltin(specifier)) {
      const owner = specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/');
      if (manifest.dependencies?.[owner] === undefined)
        problems.push(`${name}: ${owner} is not among its package's dependencies`);
      if (owner.startsWith('@svc/') && !allowed.includes(owner)) problems.push(`${name}: may not import ${owner}`);
    }
  }
  return problems;
}

function forbiddenRoom(root, folder, file, specifier) {
  if (folder !== 'packages/host-kit') return undefined;
  const room = (path) => relative(join(root, folder, 'src'), path).split('/')[0];
  const target = room(resolve(dirname(file), specifier));
  return FORBIDDEN_ROOMS[room(file)]?.includes(target) ? target : undefined;
}

/** Static and dynamic imports and re-exports that load something; types alone make no cycle and break no rule of rooms. */
export function specifiersIn(source) {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"])\/\/.*$/gm, '$1');
  const statements = code.matchAll(/^\s*(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm);
  const dynamic = code.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g);
  return [...statements, ...dynamic].map(([, specifier]) => specifier);
}

function cyclesIn(graph) {
  const done = new Set();
  const cycles = [];
  const visit = (file, path) => {
    if (path.includes(file)) return cycles.push([...path.slice(path.indexOf(file)), file]);
    if (done.has(file)) return;
    for (const specifier of graph.get(file) ?? []) {
      if (specifier.startsWith('.')) visit(resolve(dirname(file), specifier), [...path, file]);
    }
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return cycles;
}

function isBuiltin(specifier) {
  return specifier.startsWith('node:') || builtinModules.includes(specifier);
}

function sourcesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join(folder, name));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = checkImports(process.cwd());
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
