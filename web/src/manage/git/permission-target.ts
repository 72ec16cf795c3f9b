import { common } from '../../texts/common.ts';
import { permissionTarget as texts } from '../../texts/git.ts';
/** The forms of a permission's target: one repository, a group, or the beginning of paths. */
export type TargetKind = 'repoPath' | 'groupPrefix' | 'prefixPath';

/** The target of a stored permission: exactly one of its members is set. */
export type PermissionTarget = { readonly [Kind in TargetKind]: string | null | undefined };

/** The forms of a target, in the order of the form. */
export const targetKinds: Readonly<
  Record<TargetKind, { readonly label: string; readonly field: string; readonly example: string }>
> = {
  groupPrefix: { label: texts.accountLabel, field: texts.accountField, example: 'acme' },
  repoPath: { label: texts.repositoryLabel, field: common.repository, example: 'acme/site' },
  prefixPath: { label: texts.prefixLabel, field: texts.prefixField, example: 'acme/web-' },
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
