export { type PortalProps, portalComponent, type ReactParts } from './portal-component.ts';
