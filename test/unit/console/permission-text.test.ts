import { describe, expect, it } from 'vitest';
import { enumName } from '../../../src/api/graphql/enum-name.ts';
import { enterprisePermissions, organizationPermissions } from '../../../src/auth/permissions.ts';
import { missingPermission } from '../../../src/auth/viewer.ts';
import { permissionName, withPermissionNames } from '../../../web/src/ui/permission-text.ts';

const all = [...organizationPermissions, ...enterprisePermissions];

describe('permissions in the console', () => {
  it('have names, each a different one', () => {
    const names = all.map((permission) => permissionName(enumName(permission)));
    expect(names.filter((name) => name.includes('_'))).toEqual([]);
    expect(new Set(names).size).toBe(all.length);
  });

  it('are named in words where one is missing, with advice', () => {
    expect(withPermissionNames('Missing permission MANAGE_ORG_AUTOMATIONS.')).toBe(
      'You can’t create, edit or run automations and webhooks. Ask an administrator for the “Manage automations” permission.',
    );
    for (const permission of all) {
      const { message } = missingPermission(permission);
      const shown = withPermissionNames(message.replace(permission, enumName(permission)));
      expect(shown, permission).toMatch(/^You can’t .+\. Ask an administrator for the “[A-Z][A-Za-z ]+” permission\.$/);
    }
  });

  it('are named in words in any message of the service, and other words are kept', () => {
    expect(withPermissionNames('You cannot give a role with a permission that you lack: MANAGE_BILLING.')).toBe(
      'You cannot give a role with a permission that you lack: “Manage ACU limits”.',
    );
    for (const message of ['Missing permission X_Y.', 'NOT_FOUND', 'MY_MANAGE_BILLING_KEY is set.'])
      expect(withPermissionNames(message)).toBe(message);
  });
});
