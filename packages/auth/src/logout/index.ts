export type { LogoutIssuer, LogoutReceiverOptions } from './receiver.ts';
export { logoutReceiver } from './receiver.ts';
