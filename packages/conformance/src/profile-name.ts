/** A part of the protocol that a run can be required to look at. */
export type ProfileName = 'core' | 'runs' | 'versions' | 'webhooks' | 'durable' | 'interrupts' | 'isolation' | 'full';
