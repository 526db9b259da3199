import { empty, type MountDescription, type RouteCredential } from '../http/description.ts';
import type { MountRoute } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import { jsonValue } from '../json-schema.ts';
import type { DescribedHost } from './described-host.ts';
import type { DescribedRoute } from './described-operation.ts';
import { headersOf } from './headers.ts';
import { operationObject } from './operation.ts';
import { schemas } from './schemas.ts';
import { schemeOf, securitySchemes } from './security.ts';

/** A mount as its description needs it. */
export interface DescribedMount {
  readonly name: string;
  readonly routes: readonly MountRoute[];
  readonly describedApart?: ApartDescription;
}

/** The description of the routes of one mount alone. */
export interface ApartDescription {
  /** Its path after `/host/<org>`. */
  readonly path: string;
  readonly title: string;
  /** The credential of the callers, in a sentence. */
  readonly credential: string;
}

/**
 * Builds the OpenAPI 3.1 description of the routes of all mounts. They belong to no major, so one document describes
 * them for clients of both.
 *
 * @param prefix `/host/<org>`
 * @param apart the title and the credential of a mount that is described alone
 * @throws {TypeError} when two different schemas have the same name
 */
export function mountsDescription(
  prefix: string,
  mounts: readonly DescribedMount[],
  host: DescribedHost,
  apart?: ApartDescription,
): JsonObject {
  const { implementation, version, baseUrl, served } = host;
  const collected = schemas();
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const { tag, route, describes } of listed(mounts)) {
    const { operationId } = describes;
    const path = prefix + route.path;
    const described = operationObject({
      operation: { operationId, method: route.method, path, isProtocol: false },
      route: describedRoute(tag, route, describes),
      major: served.preferredMajor,
      host,
      collected,
    });
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: described };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: apart?.title ?? `${implementation.name}, operations of the host`,
      version,
      description: 'The operations beside the protocol. They are the same under both majors of it.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl?.replace(/\/$/, '') ?? '/' }],
    tags: mounts.map(({ name }) => ({ name, description: `The mount \`${name}\` of this host.` })),
    paths,
    components: {
      securitySchemes: {
        ...securitySchemes(host, apart?.credential),
        ...Object.fromEntries(credentialsOf(mounts).map((credential) => [credential.name, schemeOf(credential)])),
      },
      headers: headersOf(paths),
      schemas: collected.components(),
    },
  };
}

/**
 * Checks that no two routes of the mounts have the same name, and no two credentials.
 *
 * @throws {TypeError} naming the `operationId` or the credential
 */
export function requireUniqueIds(mounts: readonly DescribedMount[]): void {
  const known = new Set<string>();
  for (const { operationId } of listed(mounts).map(({ describes }) => describes)) {
    if (known.has(operationId))
      throw new TypeError(`mounts: two routes have the operationId ${operationId}. Change one of them.`);
    known.add(operationId);
  }
  const described = new Map<string, string>(TAKEN.map((name) => [name, '']));
  for (const { name, description } of credentialsOf(mounts)) {
    if ((described.get(name) ?? description) !== description)
      throw new TypeError(`mounts: two credentials are named ${name}. Change the name of one of them.`);
    described.set(name, description);
  }
}

/** The names of the credentials of the host itself. */
const TAKEN = ['bearer', 'dpop'];

/** The credentials that routes with a verification of their own demand. */
function credentialsOf(mounts: readonly DescribedMount[]): readonly RouteCredential[] {
  return listed(mounts).flatMap(({ describes: { credential } }) => credential ?? []);
}

interface Listed {
  readonly tag: string;
  readonly route: MountRoute;
  readonly describes: MountDescription;
}

/** The routes of all mounts that the description has. */
function listed(mounts: readonly DescribedMount[]): readonly Listed[] {
  return mounts.flatMap(({ name, routes }) =>
    routes.flatMap((route) => {
      const { describes = undescribed(route) } = route;
      return describes === 'unlisted' ? [] : [{ tag: name, route, describes }];
    }),
  );
}

function describedRoute(
  tag: string,
  { scope, takesBody, takesKey, verification, refusalBody }: MountRoute,
  { body = jsonValue, content, credential, ...describes }: MountDescription,
): DescribedRoute {
  return {
    isVerified: verification !== undefined,
    ...(credential !== undefined && { credential }),
    ...(content !== undefined && { content }),
    access: verification !== undefined ? 'public' : scope === undefined ? 'any-credential' : { scope },
    describes: { ...describes, tag, ...(refusalBody !== undefined && { errorBody: FOREIGN_ERROR }) },
    ...(takesBody && { schema: { 1: body, 2: body } }),
    ...(takesKey === true && { takesKey }),
  };
}

/** The error of another protocol, which defines its form. */
const FOREIGN_ERROR: JsonObject = {
  type: 'object',
  description: 'An error in the form of the protocol that this mount serves.',
};

/** The entry of a route that describes nothing: `GET /webhooks/{webhookId}` becomes `getWebhooksWebhookId`. */
function undescribed({ method, path, verification }: MountRoute): MountDescription {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const name = words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('');
  return {
    operationId: method.toLowerCase() + name,
    summary: `${method} ${path}`,
    description: 'The mount does not describe this operation.',
    answers: { 200: empty('The answer of the mount.') },
    // Its verification may refuse a caller in either way.
    ...(verification !== undefined && { errors: ['unauthenticated', 'forbidden'] }),
  };
}
