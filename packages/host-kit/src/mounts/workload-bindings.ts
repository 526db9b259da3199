import { z } from 'zod';
import type { AccessServices } from '../access/access-parts.ts';
import { bindWorkload, listBindings, reachedBinding, unbindWorkload, updateBinding } from '../access/bindings.ts';
import { empty, json } from '../http/description.ts';
import { type MountRoute, mountRoute, parse } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import type { StoredBinding } from '../ports/access.ts';
import {
  bindingChangeBody,
  bindingPage,
  bindingView,
  newBindingBody,
  reachIn,
  viewOfBinding,
} from '../wire/workload-binding.ts';
import { idInPath, idQuery, PAGE_QUERY, pageOf, pathId } from './access-page.ts';
import { ok, PRIVATE } from './owned-webhook.ts';

/**
 * The routes under `/host/<org>/workload-bindings`: a caller with the scope `roles:manage` binds workloads of the issuers
 * that the operator granted to its tenant, within what it holds.
 */
export function workloadBindingRoutes(services: AccessServices): MountRoute[] {
  return [...readingRoutes(services), ...changingRoutes(services)];
}

const SCOPE = 'roles:manage';
const PATH = { bindingId: pathId('The id of the binding.') };

function readingRoutes(services: AccessServices): MountRoute[] {
  return [
    mountRoute({
      method: 'GET',
      path: '/workload-bindings',
      scope: SCOPE,
      describes: {
        operationId: 'listWorkloadBindings',
        summary: 'List workload bindings',
        description: 'The bindings whose workspaces the caller reaches, in the order of their ids.',
        query: { ...PAGE_QUERY, principal: z.string().optional().describe('Bindings to this principal alone.') },
        answers: { 200: json('A page of bindings.', bindingPage, PRIVATE) },
      },
      serve: (call) =>
        pageOf(call, 'bindings', viewer(services), (page) =>
          listBindings(services, call.principal, { ...page, principal: idQuery(call.query, 'principal') }),
        ),
    }),
    mountRoute({
      method: 'GET',
      path: '/workload-bindings/{bindingId}',
      scope: SCOPE,
      describes: {
        operationId: 'readWorkloadBinding',
        summary: 'Read a workload binding',
        description: 'A binding whose workspaces the caller reaches.',
        path: PATH,
        answers: { 200: json('The binding.', bindingView, PRIVATE) },
        errors: ['not_found'],
      },
      serve: async (call) =>
        ok(viewer(services)(await reachedBinding(services, call.principal, idInPath(call, 'bindingId')))),
    }),
  ];
}

function changingRoutes(services: AccessServices): MountRoute[] {
  const view = viewer(services);
  return [
    mountRoute({
      method: 'POST',
      path: '/workload-bindings',
      scope: SCOPE,
      takesBody: true,
      takesKey: true,
      describes: {
        operationId: 'bindWorkload',
        summary: 'Bind a workload to a principal',
        description:
          'The operator has granted the identity to the tenant, and the caller holds all that the workload gets. Safe to ' +
          'repeat: an identity is bound once. Only a credential of the mode `live` binds workloads.',
        body: newBindingBody,
        example: {
          issuer: 'spiffe://acme.example',
          subject: 'spiffe://acme.example/billing',
          workspaces: ['acme-prod'],
          scopes: ['runs:read'],
        },
        answers: { 201: json('The binding.', bindingView, PRIVATE) },
        errors: ['forbidden'],
      },
      serve(call) {
        const { workspaces, ...asked } = parse(newBindingBody, call.json);
        const given = { ...asked, ...(workspaces !== undefined && { workspaces: reachIn(workspaces) }) };
        return call.once<JsonObject>(
          async (save) =>
            view(
              await bindWorkload(services, call.principal, given, (binding, transaction) =>
                save(view(binding), transaction),
              ),
            ),
          async (made) => ok(made, 201),
        );
      },
    }),
    mountRoute({
      method: 'PATCH',
      path: '/workload-bindings/{bindingId}',
      scope: SCOPE,
      takesBody: true,
      describes: {
        operationId: 'updateWorkloadBinding',
        summary: 'Change a workload binding',
        description:
          'Replaces the scopes or the workspaces. A caller that adds some holds all that the workload gets. Every host of ' +
          'the store goes by the change when the answer is there.',
        path: PATH,
        body: bindingChangeBody,
        example: { scopes: ['runs:read'], epoch: 1 },
        answers: { 200: json('The binding.', bindingView, PRIVATE) },
        errors: ['not_found', 'forbidden'],
      },
      // Safe without an idempotency key: a repeated change changes nothing more.
      async serve(call) {
        const { workspaces, ...change } = parse(bindingChangeBody, call.json);
        const given = { ...change, ...(workspaces !== undefined && { workspaces: reachIn(workspaces) }) };
        return ok(view(await updateBinding(services, call.principal, idInPath(call, 'bindingId'), given)));
      },
    }),
    mountRoute({
      method: 'DELETE',
      path: '/workload-bindings/{bindingId}',
      scope: SCOPE,
      describes: {
        operationId: 'unbindWorkload',
        summary: 'Remove a workload binding',
        description:
          'No request of the workload that begins after the answer is accepted, on any host of the store, and its streams ' +
          'end.',
        path: PATH,
        answers: { 204: empty('The workload is bound no more.') },
        errors: ['not_found', 'forbidden'],
      },
      async serve(call) {
        await unbindWorkload(services, call.principal, idInPath(call, 'bindingId'));
        return { status: 204 };
      },
    }),
  ];
}

function viewer({ access }: AccessServices): (binding: StoredBinding) => JsonObject {
  return (binding) => viewOfBinding(binding, access.isGranted(binding.tenant, binding));
}
