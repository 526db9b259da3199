/** A workflow that can be started as a child: one of `workflow`. */
export interface ChildWorkflow<Inputs = unknown, Outputs = unknown> {
  readonly id: string;
  /** The types of what a caller passes, and of what the workflow returns. It has no value. */
  readonly types?: { readonly inputs: Inputs; readonly outputs: Outputs };
}
