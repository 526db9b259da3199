import { guard } from '@svc/auth/fetch';
import { served } from '@svc/versioning';
import { versioning } from '@svc/versioning/fetch';
import { workflows } from './engine.ts';
import { protocol, running } from './host.ts';

const versions = served(protocol);

/** Answers an operation of the protocol that the app serves itself, because the answer depends on the caller. */
export async function readWorkflow(
  request: Request,
  { params }: { readonly params: Promise<{ readonly workflowId: string }> },
): Promise<Response> {
  const { workflowId } = await params;
  const workflow = workflows.get(workflowId);
  const answer = versioning({
    served: versions,
    operation(_, { major }) {
      const admitted = guard({ authenticator: running().auth, scope: 'manifest:read' }, (_, { tenancy }) => {
        if (workflow === undefined) return Response.json(NO_WORKFLOW, { status: 404 });
        return Response.json({ workflowId, name: workflow.name, tenant: tenancy.tenant, major });
      });
      return admitted(request);
    },
  });
  return answer(request);
}

const NO_WORKFLOW = { error: 'not_found', message: 'There is no such workflow.' };
