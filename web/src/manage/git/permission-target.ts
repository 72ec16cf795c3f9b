/** The forms of a permission's target: one repository, a group, or the beginning of paths. */
export type TargetKind = 'repoPath' | 'groupPrefix' | 'prefixPath';

/** The target of a stored permission: exactly one of its members is set. */
export type PermissionTarget = { readonly [Kind in TargetKind]: string | null | undefined };

/** The forms of a target, in the order of the form. */
export const targetKinds: Readonly<
  Record<TargetKind, { readonly label: string; readonly field: string; readonly example: string }>
> = {
  groupPrefix: { label: 'All repositories of an account or group', field: 'Account or group', example: 'acme' },
  repoPath: { label: 'One repository', field: 'Repository', example: 'acme/site' },
  prefixPath: { label: 'All paths with a common beginning', field: 'Beginning of the paths', example: 'acme/web-' },
};

/** Describes the target of a permission for people. */
export function describeTarget({ repoPath, groupPrefix, prefixPath }: PermissionTarget): string {
  if (repoPath != null) return repoPath;
  return groupPrefix != null ? `${groupPrefix}/*` : `${prefixPath ?? ''}*`;
}

/** Names the form of the target of a permission. */
export function targetKindOf({ repoPath, groupPrefix }: PermissionTarget): TargetKind {
  if (repoPath != null) return 'repoPath';
  return groupPrefix != null ? 'groupPrefix' : 'prefixPath';
}
