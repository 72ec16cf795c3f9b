import { graphql, type TestApp } from './app.ts';
import { mutationDocument } from './mutations.ts';
import { globalIdOf, makeKey } from './principals.ts';

/** Runs a mutation; returns its payload, or the code and message of its error. */
export async function runMutation(
  test: TestApp,
  field: string,
  selection: string,
  input: Record<string, unknown>,
  token: string = test.adminToken,
): Promise<any> {
  const document = mutationDocument(field, `${selection} userErrors { code message path } clientMutationId`);
  const { data, errors } = await graphql(test, token, document, { input });
  return errors ? { error: errors[0].extensions.code, message: errors[0].message } : data[field];
}

/** The selection of a role. */
export const roleFields = 'role { id roleId name scope isBuiltIn permissions }';

let roles = 0;

/** Creates a custom role with these permissions. */
export async function makeRole(
  test: TestApp,
  scope: 'ENTERPRISE' | 'ORGANIZATION',
  permissions: readonly string[],
  token?: string,
): Promise<{ id: string; roleId: string; name: string; permissions: string[] }> {
  roles += 1;
  const made = await runMutation(test, 'createRole', roleFields, { name: `Role ${roles}`, scope, permissions }, token);
  if (!made.role) throw new Error(JSON.stringify(made));
  return made.role;
}

/** Creates a service user of the enterprise with a custom role of exactly these permissions. */
export async function makeManager(
  test: TestApp,
  ...permissions: string[]
): Promise<{ serviceUserId: string; token: string; roleId: string }> {
  const { roleId } = await makeRole(test, 'ENTERPRISE', permissions);
  const input = { name: 'Manager', roleId, scope: { enterprise: true } };
  const made = await runMutation(test, 'createServiceUser', 'serviceUser { serviceUserId }', input);
  const { serviceUserId } = made.serviceUser;
  return { serviceUserId, roleId, token: await makeKey(test, { kind: 'SERVICE_USER', serviceUserId }) };
}

/** Returns the role assignments of a user that a viewer sees, newest first: `[organizationId, roleId]`. */
export async function rolesOf(
  test: TestApp,
  userId: string,
  token: string = test.adminToken,
): Promise<[string | null, string][]> {
  const document = `query($id: ID!) { node(id: $id) { ... on User {
    roleAssignments { nodes { organizationId organization { organizationId } role { roleId } } } } } }`;
  const { data } = await graphql(test, token, document, { id: globalIdOf('User', userId.replace('user-', '')) });
  return data.node.roleAssignments.nodes.map((node: any) => [node.organizationId, node.role.roleId]);
}
