import type { AccessServices } from '../access/access-parts.ts';
import { createRole, reachedRole, removeRole, updateRole } from '../access/roles.ts';
import { empty, json } from '../http/description.ts';
import { type MountRoute, mountRoute, parse } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import type { StoredRole } from '../ports/access.ts';
import { newRoleBody, roleChangeBody, rolePage, roleView, viewOfRole } from '../wire/access.ts';
import { idInPath, PAGE_QUERY, pageOf, pathId } from './access-page.ts';
import { ok, PRIVATE } from './owned-webhook.ts';

/**
 * The routes under `/host/<org>/roles`: a caller with the scope `roles:manage` defines roles of its tenant, within what it
 * holds.
 */
export function roleRoutes(services: AccessServices): MountRoute[] {
  return [...readingRoutes(services), ...changingRoutes(services)];
}

const SCOPE = 'roles:manage';
const PATH = { role: pathId('The name of the role.') };

function readingRoutes(services: AccessServices): MountRoute[] {
  const { store } = services;
  return [
    mountRoute({
      method: 'GET',
      path: '/roles',
      scope: SCOPE,
      describes: {
        operationId: 'listRoles',
        summary: 'List roles',
        description: 'The roles of the tenant, in the order of their names.',
        query: PAGE_QUERY,
        answers: { 200: json('A page of roles.', rolePage, PRIVATE) },
      },
      serve: (call) =>
        pageOf(call, 'roles', viewOfRole, async (page) => {
          const found = await store.access.list('role', call.principal.tenancy.tenant, page);
          return found.filter((record): record is StoredRole => record.kind === 'role');
        }),
    }),
    mountRoute({
      method: 'GET',
      path: '/roles/{role}',
      scope: SCOPE,
      describes: {
        operationId: 'readRole',
        summary: 'Read a role',
        description: 'A role of the tenant.',
        path: PATH,
        answers: { 200: json('The role.', roleView, PRIVATE) },
        errors: ['not_found'],
      },
      serve: async (call) => ok(viewOfRole(await reachedRole(services, call.principal, idInPath(call, 'role')))),
    }),
  ];
}

function changingRoutes(services: AccessServices): MountRoute[] {
  return [
    mountRoute({
      method: 'POST',
      path: '/roles',
      scope: SCOPE,
      takesBody: true,
      takesKey: true,
      describes: {
        operationId: 'createRole',
        summary: 'Create a role',
        description:
          'Defines a role of the tenant. The credential of the caller has all of its scopes, and so does one role of the ' +
          'caller. Only a credential of the mode `live` changes roles.',
        body: newRoleBody,
        example: { role: 'night-shift', scopes: ['runs:read', 'runs:cancel'] },
        answers: { 201: json('The role.', roleView, PRIVATE) },
        errors: ['forbidden'],
      },
      serve(call) {
        const asked = parse(newRoleBody, call.json);
        return call.once<JsonObject>(
          async (save) =>
            viewOfRole(
              await createRole(services, call.principal, asked, (role, transaction) =>
                save(viewOfRole(role), transaction),
              ),
            ),
          async (view) => ok(view, 201),
        );
      },
    }),
    mountRoute({
      method: 'PATCH',
      path: '/roles/{role}',
      scope: SCOPE,
      takesBody: true,
      describes: {
        operationId: 'updateRole',
        summary: 'Change a role',
        description:
          'Replaces the scopes. The caller reaches every workspace in which the role is assigned, and holds further scopes ' +
          'in each of them. Every host of the store goes by the change when the answer is there.',
        path: PATH,
        body: roleChangeBody,
        example: { scopes: ['runs:read'], epoch: 1 },
        answers: { 200: json('The role.', roleView, PRIVATE) },
        errors: ['not_found', 'forbidden'],
      },
      // Safe without an idempotency key: a repeated change changes nothing more.
      async serve(call) {
        const { scopes, epoch } = parse(roleChangeBody, call.json);
        return ok(viewOfRole(await updateRole(services, call.principal, idInPath(call, 'role'), { scopes, epoch })));
      },
    }),
    mountRoute({
      method: 'DELETE',
      path: '/roles/{role}',
      scope: SCOPE,
      describes: {
        operationId: 'removeRole',
        summary: 'Remove a role',
        description: 'Removes a role that is assigned nowhere.',
        path: PATH,
        answers: { 204: empty('The role is removed.') },
        errors: ['not_found', 'forbidden'],
      },
      async serve(call) {
        await removeRole(services, call.principal, idInPath(call, 'role'));
        return { status: 204 };
      },
    }),
  ];
}
