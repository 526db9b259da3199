import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

/** A modal dialog. The browser traps the focus in it, closes it with Escape, and returns the focus to its opener. */
export function Dialog(given: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}): VNode {
  const { title, onClose, children } = given;
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    const opener = document.activeElement?.getBoundingClientRect();
    dialog?.showModal();
    // A page in a frame of its own height is not scrolled, so its middle may be far out of sight.
    if (dialog !== null && parent !== window) {
      dialog.classList.add('beside');
      dialog.style.top = `${Math.max(MARGIN, (opener?.top ?? 0) + scrollY - MARGIN)}px`;
    }
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={ref} aria-labelledby={id} onClose={onClose}>
      <h2 id={id} class="dialog-title">
        {title}
      </h2>
      {children}
    </dialog>
  );
}

/** The least distance to the top of the page, in px. */
const MARGIN = 16;
