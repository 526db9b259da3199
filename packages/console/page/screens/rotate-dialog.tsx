import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Webhook } from '../data/shapes.ts';
import { rotateSecret } from '../data/webhooks.ts';
import { ActionError, useAction } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import { Ago } from '../parts/words.tsx';

/** Replaces the secret of a subscription. Both secrets sign until the receiver has the new one. */
export function RotateDialog(given: {
  readonly webhook: Pick<Webhook, 'webhookId' | 'signatureAlgorithms'>;
  readonly onClose: () => void;
  readonly onRotated: () => void;
}): VNode {
  const { webhook, onClose, onRotated } = given;
  const action = useAction();
  const [made, setMade] = useState<{ secret: string; until: string } | undefined>(undefined);
  const canRotate = webhook.signatureAlgorithms.includes('standard-webhooks-1');
  const rotate = (event: Event) => {
    event.preventDefault();
    void action.run(async () => {
      const secret = newSecret();
      setMade({ secret, until: await rotateSecret(webhook.webhookId, secret) });
      onRotated();
    });
  };
  return (
    <Dialog title="Rotate the secret" onClose={onClose}>
      {!canRotate && (
        <>
          <p>
            This subscription has the signature <code>v1</code> alone, whose secret is made at its registration.
            Register the receiver again, give it the new secret, and remove this subscription afterwards.
          </p>
          <p class="actions">
            <button type="button" onClick={onClose}>
              Close
            </button>
          </p>
        </>
      )}
      {canRotate && made === undefined && (
        <form class="fields" onSubmit={rotate}>
          <p>
            This browser makes a new secret, and shows it once. Deliveries are signed with the new and the former secret
            until the former one expires. Copy the new one to the receiver before that.
          </p>
          <ActionError action={action} />
          <p class="actions">
            <button type="submit" class="primary" disabled={action.isBusy}>
              Rotate now
            </button>
            <button type="button" onClick={onClose}>
              Cancel
            </button>
          </p>
        </form>
      )}
      {made !== undefined && (
        <>
          <p class="notice good" role="status">
            Both secrets sign now. The former one expires <Ago time={made.until} />.
          </p>
          <ShownOnce name="The new secret" secret={made.secret} onClose={onClose} />
        </>
      )}
    </Dialog>
  );
}

/** A secret in the form of Standard Webhooks, of 32 random bytes. */
function newSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`;
}
