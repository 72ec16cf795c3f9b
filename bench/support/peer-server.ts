// PostGraphile on the views of bench/support/peer.ts. Runs on the Node installed beside it, which runs TypeScript
// directly. Arguments: its install folder, the database.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , folder = '', databaseUrl = ''] = process.argv;
const { resolve } = createRequire(join(folder, 'from-here.js'));
const load = (name: string): Promise<any> => import(pathToFileURL(resolve(name)).href);

const { postgraphile } = await load('postgraphile');
const { PostGraphileAmberPreset } = await load('postgraphile/presets/amber');
const { makePgService } = await load('postgraphile/adaptors/pg');
const { grafserv } = await load('postgraphile/grafserv/node');

const instance = postgraphile({
  extends: [PostGraphileAmberPreset.default ?? PostGraphileAmberPreset],
  pgServices: [makePgService({ connectionString: databaseUrl, schemas: ['peer'] })],
  grafserv: { graphqlPath: '/graphql', graphiql: false, watch: false },
  grafast: { explain: false },
});
const server = createServer();
server.on('error', (error) => console.error(error));
await instance.createServ(grafserv).addTo(server);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`listening on ${typeof address === 'object' && address ? address.port : 0}`);
});
