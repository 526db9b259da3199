export { createPortal, type Portal, type PortalPageOptions } from './portal.ts';
