// The part that the first visit does not load: `parts/later.tsx` imports it when a screen shows one of these.
export { Artifacts } from './screens/artifacts.tsx';
export { AuditLog } from './screens/audit-log.tsx';
export { HostPage } from './screens/host-page.tsx';
export { Keys } from './screens/keys.tsx';
export { LetterFacetsView } from './screens/letter-facets.tsx';
export { Roles } from './screens/roles.tsx';
export { SeriesSection } from './screens/series-section.tsx';
