import { graphql, useFragment } from 'react-relay';
import type { folders_folder$data, folders_folder$key } from '../../__generated__/folders_folder.graphql.ts';

/** A folder of notes. */
export type Folder = folders_folder$data;

/** Reads folders, sorted by their paths. */
export function useFolders(keys: folders_folder$key): readonly Folder[] {
  const folders = useFragment(
    graphql`
      fragment folders_folder on KnowledgeFolder @relay(plural: true) {
        id
        knowledgeFolderId
        name
        path
        description
        parent {
          id
        }
      }
    `,
    keys,
  );
  return folders;
}
