import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { offered, signedOutBecause, signIn } from '../data/api.ts';
import { ActionError, useAction } from '../parts/action.tsx';
import { Mark } from '../parts/icon.tsx';

/**
 * Asks for a credential. One that a link offered is filled in, and used only when the user says so: a link of a stranger
 * must not sign the user in.
 */
export function SignIn(): VNode {
  const action = useAction();
  const [key, setKey] = useState(offered.value ?? '');
  const button = useRef<HTMLButtonElement>(null);
  const field = useRef<HTMLInputElement>(null);
  // Once, when the form appears.
  useEffect(() => {
    (key === '' ? field : button).current?.focus();
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    void action.run(() => signIn((field.current?.value ?? '').trim()));
  };
  return (
    <form class="card fields" onSubmit={submit} autocomplete="off">
      <p class="brand">
        <Mark />
        svc console
      </p>
      <h1 tabIndex={-1}>Sign in</h1>
      {signedOutBecause.value !== undefined && <p class="notice warn">{signedOutBecause.value}</p>}
      <label for="credential">API key or access token</label>
      <input
        id="credential"
        ref={field}
        type="password"
        required
        spellcheck={false}
        autocomplete="off"
        aria-describedby="credential-hint"
        value={key}
        onInput={(event) => setKey(event.currentTarget.value)}
      />
      <ActionError action={action} />
      <button ref={button} type="submit" class="primary" disabled={action.isBusy}>
        {action.isBusy ? 'Signing in …' : 'Sign in'}
      </button>
      <p id="credential-hint" class="quiet">
        It stays in the memory of this tab, and is sent to this host alone. It is gone when you reload or close the tab.
      </p>
    </form>
  );
}
