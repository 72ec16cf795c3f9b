/**
 * Returns the FROM clause for the roles that a user has by groups: `gr` is a role of the group `g`, of which the user is a member by its
 * last sign-in or by a directory. It ends with a WHERE. `user`: the unprefixed id of the user in SQL. Roles in deleted organizations
 * are among them.
 */
export const groupRolesOf = (user: string): string => `
  (select named.id, named.name
     from user_identity i join idp_group named on named.enterprise_id = i.enterprise_id and named.name = any(i.groups)
    where i.user_id = ${user}
    union
   select added.id, added.name from idp_group_member m join idp_group added on added.id = m.group_id where m.user_id = ${user}) g
    join idp_group_role gr on gr.group_id = g.id
   where true`;

/** Returns the roles of a user, direct or by groups, as rows of `organization_id` and `role_id`. `user`: as in {@link groupRolesOf}. */
export const rolesOfUser = (user: string): string => `
  select direct.organization_id, direct.role_id from role_assignment direct where direct.user_id = ${user}
   union all
  select gr.organization_id, gr.role_id from ${groupRolesOf(user)}`;
