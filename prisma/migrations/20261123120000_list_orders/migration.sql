-- By hand: what the schema file cannot say.

-- Lists in the order of a name, by its first 64 characters in lower case (domain/timed-pages.ts).
CREATE INDEX "organization_by_name" ON "organization"("enterprise_id", lower("left"("name", 64)), "id")
  WHERE "deleted_at" IS NULL;
CREATE INDEX "user_account_by_email" ON "user_account"("enterprise_id", lower("left"("email", 64)), "id")
  WHERE "deleted_at" IS NULL;
CREATE INDEX "secret_by_key" ON "secret"("organization_id", lower("left"("key", 64)), "id");
CREATE INDEX "automation_by_name" ON "automation"("organization_id", lower("left"("name", 64)), "id")
  WHERE "deleted_at" IS NULL;
CREATE INDEX "playbook_by_title" ON "playbook"("organization_id", lower("left"("title", 64)), "id")
  WHERE "deleted_at" IS NULL;
CREATE INDEX "playbook_by_title_of_all" ON "playbook"("enterprise_id", lower("left"("title", 64)), "id")
  WHERE "deleted_at" IS NULL;
CREATE INDEX "knowledge_note_by_name" ON "knowledge_note"("organization_id", lower("left"("name", 64)), "id");
CREATE INDEX "knowledge_note_by_name_of_all" ON "knowledge_note"("enterprise_id", lower("left"("name", 64)), "id");
CREATE INDEX "knowledge_folder_by_name" ON "knowledge_folder"("organization_id", lower("left"("name", 64)), "id");
CREATE INDEX "knowledge_folder_by_name_of_all" ON "knowledge_folder"("enterprise_id", lower("left"("name", 64)), "id");

-- Sessions that a service key started are found as those of users are.
CREATE INDEX "session_service_key" ON "session"("service_key_id", "created_at" DESC, "id" DESC)
  WHERE "service_key_id" IS NOT NULL;
UPDATE "session_change" c SET "principal_id" = s."service_key_id"
  FROM "session" s WHERE s."id" = c."session_id" AND s."service_key_id" IS NOT NULL AND c."principal_id" = '';
CREATE OR REPLACE FUNCTION insert_session_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO session_change (session_id, organization_id, principal_id, idleness, created_at, updated_at, changed_xid)
  SELECT n.id, n.organization_id, coalesce(n.user_id, n.service_user_id, n.service_key_id, ''),
         session_idleness(n.status, n.status_detail), n.created_at, n.updated_at, n.changed_xid FROM newer n;
  RETURN NULL;
END
$$;
