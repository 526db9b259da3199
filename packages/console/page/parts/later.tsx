import { signal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { ApiError } from '../data/api.ts';
import { Failure } from './words.tsx';

type Parts = typeof import('../later.ts');

const parts = signal<Parts | undefined>(undefined);
const hasFailed = signal(false);

/** Returns whether that part is there. A component that asks is shown again when it comes. */
export function isLoaded(): boolean {
  return parts.value !== undefined;
}

/** Shows something of the part that the first visit does not load. */
export function Later({ children }: { readonly children: (loaded: Parts) => ComponentChildren }): VNode {
  useEffect(() => {
    if (parts.value === undefined) load();
  }, []);
  if (parts.value !== undefined) return <>{children(parts.value)}</>;
  return hasFailed.value ? <Failure error={NOT_LOADED} retry={load} /> : <p class="quiet">Reading …</p>;
}

function load(): void {
  hasFailed.value = false;
  import('../later.ts').then(
    (loaded) => {
      parts.value = loaded;
    },
    () => {
      hasFailed.value = true;
    },
  );
}

// A new release has files of other names, and the host no longer has the old ones.
const NOT_LOADED = new ApiError(
  0,
  'not_loaded',
  'This part of the page could not be loaded. Try again, or reload the page.',
);
