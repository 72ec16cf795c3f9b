// SQL conditions for statements that delete: each is a part of the statement itself, so that a hold that was committed before the statement
// began prevents it. Ids are unique across kinds.

/** True of a `session` aliased `s` that a legal hold covers: its own, or that of its organization or its creator. */
export const isSessionHeld = `exists (
  select 1 from legal_hold h where h.released_at is null and h.target_id in (s.id, s.organization_id, s.user_id))`;

/** The same for the session of a row aliased `t`, which has its `session_id`. A deleted session is not covered. */
export const isOfHeldSession = `exists (
  select 1 from session s join legal_hold h on h.released_at is null and h.target_id in (s.id, s.organization_id, s.user_id)
   where s.id = t.session_id)`;

/**
 * The same for a row aliased `t`, which has its `organization_id` and may have its `session_id`. A row without a session belongs to its
 * organization.
 */
export const isRecordHeld = `(${isOfHeldSession} or exists (
  select 1 from legal_hold h where h.released_at is null and h.target_id = t.organization_id))`;

/** The same for an `attachment` aliased `a`. An upload without a session belongs to its organization. */
export const isAttachmentHeld = `exists (
  select 1 from legal_hold h where h.released_at is null
     and h.target_id in (a.organization_id, a.session_id, (select s.user_id from session s where s.id = a.session_id)))`;

/** The same for an `audit_entry` aliased `e`: also one about the session, the organization or the user, or by the user. */
export const isAuditEntryHeld = `exists (
  select 1 from legal_hold h where h.released_at is null
     and h.target_id in (e.organization_id, e.session_id, e.user_id, e.target_id))`;
