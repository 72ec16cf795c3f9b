import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Test files that take more than half a minute on two cores, longest first: `npm test` prints the times. */
const slowFiles = [
  'tenancy/graphql-work',
  'system/workers',
  'system/restarts',
  'system/interrupted-turns',
  'console/session',
  'tenancy/graphql-administration',
  'system/real-agents-opencode',
  'system/pull-requests-of-agents',
  'tenancy/rest-organizations',
  'tenancy/graphql-fields',
  'console/manage',
  'console/sessions',
  'system/automations-killed',
  'tenancy/subscriptions',
  'system/real-agents-gemini',
  'console/half-written',
  'console/pickers',
  'rest/property-v3-enterprise',
  'console/uploads',
  'tenancy/rest-enterprise',
  'console/manage-accessible',
  'console/maintenance',
  'system/chaos-database',
  'tenancy/cursors',
  'system/repository-kills',
  'system/endless-packs',
  'system/reports',
  'tenancy/dead-keys',
  'system/copied-data-dirs',
  'store/drift',
].map((name) => `test/${name}.test.ts`);

/**
 * Starts the longest files of each project first, so that a run does not end with one of them on one core. In a fresh clone,
 * Vitest only knows the size of a file, which says little: the tenancy matrix has a file of 13 lines.
 */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const found = slowFiles.indexOf(relative(this.ctx.config.root, moduleId));
      return found < 0 ? slowFiles.length : found;
    };
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).toSorted((a, b) => rankOf(a) - rankOf(b)),
    );
  }
}
