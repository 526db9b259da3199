export { definePortalElement } from './portal-element.ts';
