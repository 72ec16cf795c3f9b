export const memberForms = {
  addMember: 'Add member',
  emailHint: 'No email is sent. New members sign in with your identity provider, or with a link that you send them.',
  memberSaved: 'Member saved.',
  editMember: 'Edit member',
};

export const membersPage = {
  added: 'Added',
  addMember: 'Add member',
  emptyTitle: 'No members yet',
  emptyText: 'Members can start sessions in this organization. Add a member and select a role.',
  removeText:
    'They and their keys lose access to this organization, unless an enterprise role grants it. Their sessions are kept.',
};
