import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Code } from './words.tsx';

/** A new secret, which is shown here and nowhere again, with a button that copies it. */
export function ShownOnce(given: {
  readonly name: string;
  readonly secret: string;
  readonly onClose: () => void;
}): VNode {
  const { name, secret, onClose } = given;
  const [isCopied, setCopied] = useState(false);
  return (
    <>
      <p>{name}, which is shown only here:</p>
      <pre class="secret">
        <Code>{secret}</Code>
      </pre>
      <p class="actions">
        {/* Browsers have a clipboard on https and on this machine alone. */}
        {isSecureContext && (
          <button
            type="button"
            class="primary"
            onClick={() => void navigator.clipboard.writeText(secret).then(() => setCopied(true))}
          >
            Copy
          </button>
        )}
        <button type="button" onClick={onClose}>
          Close
        </button>
        <span role="status">{isCopied && 'Copied.'}</span>
      </p>
    </>
  );
}
