import { z } from 'zod';
import type { AccessServices } from '../access/access-parts.ts';
import { assign, listAssignments, reachedAssignment, unassign } from '../access/assignments.ts';
import { empty, json } from '../http/description.ts';
import { type MountRoute, mountRoute, parse } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import { assignmentPage, assignmentView, newAssignmentBody, viewOfAssignment } from '../wire/access.ts';
import { idInPath, idQuery, PAGE_QUERY, pageOf, pathId } from './access-page.ts';
import { ok, PRIVATE } from './owned-webhook.ts';

/**
 * The routes under `/host/<org>/assignments`: a caller with the scope `roles:manage` gives other principals roles in its
 * workspaces, and takes them.
 */
export function assignmentRoutes(services: AccessServices): MountRoute[] {
  return [
    ...readingRoutes(services),
    mountRoute({
      method: 'POST',
      path: '/assignments',
      scope: SCOPE,
      takesBody: true,
      takesKey: true,
      describes: {
        operationId: 'assignRole',
        summary: 'Give a principal a role in a workspace',
        description:
          'The credential of the caller has all scopes of the role, and so does one role of the caller in that workspace. ' +
          'No caller changes its own roles. Safe to repeat: the same assignment has one id.',
        body: newAssignmentBody,
        example: { principal: 'p_7f3a', workspace: 'acme-prod', role: 'operator' },
        answers: { 201: json('The assignment.', assignmentView, PRIVATE) },
        errors: ['forbidden'],
      },
      serve(call) {
        const asked = parse(newAssignmentBody, call.json);
        return call.once<JsonObject>(
          async (save) =>
            viewOfAssignment(
              await assign(services, call.principal, asked, (record, transaction) =>
                save(viewOfAssignment(record), transaction),
              ),
            ),
          async (view) => ok(view, 201),
        );
      },
    }),
    mountRoute({
      method: 'DELETE',
      path: '/assignments/{assignmentId}',
      scope: SCOPE,
      describes: {
        operationId: 'unassignRole',
        summary: 'Take a role from a principal',
        description:
          'The caller could give the role. No request that begins after the answer has it, on any host of the store, and ' +
          'streams that needed it end.',
        path: PATH,
        answers: { 204: empty('The principal has the role there no more.') },
        errors: ['not_found', 'forbidden'],
      },
      async serve(call) {
        await unassign(services, call.principal, idInPath(call, 'assignmentId'));
        return { status: 204 };
      },
    }),
  ];
}

const SCOPE = 'roles:manage';
const PATH = { assignmentId: pathId('The id of the assignment.') };

function readingRoutes(services: AccessServices): MountRoute[] {
  return [
    mountRoute({
      method: 'GET',
      path: '/assignments',
      scope: SCOPE,
      describes: {
        operationId: 'listRoleAssignments',
        summary: 'List role assignments',
        description: 'The assignments in the workspaces of the caller, in the order of their ids.',
        query: {
          ...PAGE_QUERY,
          principal: z.string().optional().describe('Assignments of this principal alone.'),
          role: z.string().optional().describe('Assignments of this role alone.'),
        },
        answers: { 200: json('A page of assignments.', assignmentPage, PRIVATE) },
      },
      serve: (call) =>
        pageOf(call, 'assignments', viewOfAssignment, (page) =>
          listAssignments(services, call.principal, {
            ...page,
            principal: idQuery(call.query, 'principal'),
            role: idQuery(call.query, 'role'),
          }),
        ),
    }),
    mountRoute({
      method: 'GET',
      path: '/assignments/{assignmentId}',
      scope: SCOPE,
      describes: {
        operationId: 'readRoleAssignment',
        summary: 'Read a role assignment',
        description: 'An assignment in a workspace of the caller.',
        path: PATH,
        answers: { 200: json('The assignment.', assignmentView, PRIVATE) },
        errors: ['not_found'],
      },
      serve: async (call) =>
        ok(viewOfAssignment(await reachedAssignment(services, call.principal, idInPath(call, 'assignmentId')))),
    }),
  ];
}
