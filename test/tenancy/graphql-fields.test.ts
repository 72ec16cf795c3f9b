import { afterAll, beforeAll, expect, it } from 'vitest';
import { allFields, pathsFromQuery } from './documents.ts';
import { queryOperations, type Seen } from './graphql-operations.ts';
import { runMatrix } from './run-matrix.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.test.close());

/** Fields that are empty for every principal of the matrix, each with a reason. */
const unread: Readonly<Record<string, string>> = {
  'Maintenance.reason': 'The service of the tests works normally.',
  'Maintenance.since': 'The service of the tests works normally.',
  'MissingFiles.fileCount': 'Only a directory has missing parts: see test/graphql/session-files.test.ts.',
  'MissingFiles.path': 'Only a directory has missing parts: see test/graphql/session-files.test.ts.',
  'MissingFiles.reason': 'Only a directory has missing parts: see test/graphql/session-files.test.ts.',
  'MissingFiles.sizeBytes': 'Only a directory has missing parts: see test/graphql/session-files.test.ts.',
  'SessionFile.missing': 'Only a directory has missing parts: see test/graphql/session-files.test.ts.',
  'SessionForkOrigin.checkpoint': 'The first session is no fork: see test/graphql/fork-session.test.ts.',
  'SessionForkOrigin.session': 'The first session is no fork: see test/graphql/fork-session.test.ts.',
  'SessionViewer.isTyping': 'Viewers are not stored: see test/graphql/presence.test.ts.',
  'SessionViewer.principal': 'Viewers are not stored: see test/graphql/presence.test.ts.',
};

/** A program that waits for approval belongs to nobody: test/auth/device-authorizations.test.ts. */
const ofPrograms = /^(?:Query\.deviceAuthorization|DeviceAuthorization\.\w+)$/;

/** Fields that only a forge fills, and no forge is there: test/rest/v3-git-providers.test.ts and test/graphql/repository-checks.test.ts read it. */
const ofForges = /^(?:GitConnection\.repositories|ForgeRepository(?:Page)?\.\w+|RepositoryCheck\.host)$/;

it('reveals no other tenant by any field of any type', { timeout: 600_000 }, async () => {
  const seen: Seen = new Set();
  const matrix = await runMatrix(world, 'GraphQL fields', queryOperations(seen));
  const missing = allFields(pathsFromQuery().keys()).filter(
    (field) => !seen.has(field) && !(field in unread) && !ofForges.test(field) && !ofPrograms.test(field),
  );
  expect(missing, 'Nobody could read these: the world lacks such a thing (test/tenancy/tenant.ts).').toEqual([]);
  expect(matrix.cases.size).toBeGreaterThan(800);
});
