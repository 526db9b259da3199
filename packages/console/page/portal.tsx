import { render } from 'preact';
import { PortalShell } from './portal-shell.tsx';

const place = document.getElementById('app');
if (place !== null) render(<PortalShell />, place);
