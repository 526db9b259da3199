/**
 * A host that reads streams, until it is killed. Arguments: the URL of its database, the schema, the port that it may call. Prints a line
 * when it has started.
 */
import { egressPolicy } from '@svc/egress-guard';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { triggerHost } from './trigger-host.ts';

const [, , url = '', schema = '', port = ''] = process.argv;
const store = await postgresStore({ url, schema, connections: 4 });
const egress = egressPolicy({ allowLoopback: [Number(port)] });
const { clock } = await triggerHost({ store, triggers: { streams: {} }, more: { egress } });
process.stdout.write('started\n');
setInterval(() => clock.advance(20), 10);
