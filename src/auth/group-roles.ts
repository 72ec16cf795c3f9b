/**
 * Returns the FROM clause for the roles that a user has by groups: `gr` is the role of the group `g`, of which the identity `i` of the
 * user is a member. `user`: the unprefixed id of the user in SQL. Roles in deleted organizations are among them.
 */
export const groupRolesOf = (user: string): string => `
  user_identity i
    join idp_group g on g.enterprise_id = i.enterprise_id and g.name = any(i.groups)
    join idp_group_role gr on gr.group_id = g.id
   where i.user_id = ${user}`;

/** Returns the roles of a user, direct or by groups, as rows of `organization_id` and `role_id`. `user`: as in {@link groupRolesOf}. */
export const rolesOfUser = (user: string): string => `
  select direct.organization_id, direct.role_id from role_assignment direct where direct.user_id = ${user}
   union all
  select gr.organization_id, gr.role_id from ${groupRolesOf(user)}`;
